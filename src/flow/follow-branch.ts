import { resolveCommit } from '../git/refs.ts'
import { renamedTo } from '../git/renamed-branch.ts'
import { GalleyError, refuse } from '../model/error.ts'
import type { CommitId, RefName } from '../model/ids.ts'
import type { LoggedChange } from '../store/change-log.ts'
import { currentRevision } from './check.ts'
import type { World } from './world.ts'

/** Where a change lands, when its branch is not what it was. */
export interface Destination {
  /** The change, for that branch. */
  readonly logged: LoggedChange
  readonly tip: CommitId | null
  /** Why it is another one than the change was made for; null = it is the same. */
  readonly remark: string | null
}

/**
 * Finds the branch that a change lands on. One that was renamed is followed; where it is gone, or HEAD was detached and is on a branch now,
 * the branch that is checked out takes its place if it stands at the very commit that the change was made on.
 *
 * Costs nothing more while the branch is there.
 *
 * @param wish - A branch to take instead, where its own is gone.
 * @throws GalleyError `branch-moved`, with the ways that there are.
 */
export async function findDestination(
  world: World,
  logged: LoggedChange,
  wish: string | undefined,
): Promise<Destination> {
  const { door } = world.repository
  const { id, onto } = logged.change
  const { base } = currentRevision(logged)
  const head = onto === 'HEAD' ? await world.head() : null
  const tip = onto === 'HEAD' && head?.detached === false ? null : await resolveCommit(door, onto)
  const isThere = tip !== null || base === null
  if (wish !== undefined) return wished(world, logged, { wish, isThere })
  if (isThere) return { logged, tip, remark: null }
  const renamed = onto === 'HEAD' ? null : await renamedTo(door, onto)
  if (renamed !== null) {
    const remark = `${onto} was renamed: this is on ${renamed}`
    return { logged: placed(logged, renamed), tip: await resolveCommit(door, renamed), remark }
  }
  const { ref, tip: headTip, detached } = head ?? (await world.head())
  if (!detached && headTip === base) {
    const why = onto === 'HEAD' ? 'HEAD was detached' : `${onto} is gone`
    return {
      logged: placed(logged, ref),
      tip: headTip,
      remark: `${why}: this is on ${ref}, at the same commit`,
    }
  }
  const what = onto === 'HEAD' ? `HEAD was detached and is on ${ref} now` : `the branch ${onto} is gone`
  const message = `land ${id}: ${what}; the change was staged on ${base}`
  const name = ref === 'HEAD' ? '<branch>' : ref.replace(/^refs\/heads\//, () => '')
  const hint = `\`galley land ${id} --onto ${name}\` lands it on that branch.`
  throw new GalleyError({
    code: 'branch-moved',
    message,
    data: { expected: base, found: null, ref: onto },
    hint,
  })
}

const placed = (logged: LoggedChange, onto: RefName): LoggedChange => ({
  ...logged,
  change: { ...logged.change, onto },
})

async function wished(
  world: World,
  logged: LoggedChange,
  { wish, isThere }: { readonly wish: string; readonly isThere: boolean },
): Promise<Destination> {
  const { onto, id } = logged.change
  const ref = (wish.startsWith('refs/heads/') ? wish : `refs/heads/${wish}`) as RefName
  const { door } = world.repository
  if (ref !== onto && isThere)
    refuse(
      'wrong-state',
      `land ${id}: it was made for ${onto}, which is there`,
      { ref: onto },
      'Land it without `--onto`.',
    )
  const isName =
    /^refs\/heads\/(?!-)[^\s~^:?*[\\\p{Cc}]+$/u.test(ref) && !ref.includes('..') && !ref.includes('@{')
  const tip = isName ? await resolveCommit(door, ref) : null
  if (tip === null)
    refuse('stale', `there is no branch ${ref}`, { ref }, 'See `git branch` for those that there are.')
  const remark = ref === onto ? null : `${onto} is gone: this is on ${ref}`
  return { logged: placed(logged, ref), tip, remark }
}

/** Whether there is something new to decide on. */
export async function hasMoved(world: World, place: Destination | null): Promise<boolean> {
  if (place === null) return false
  return (await resolveCommit(world.repository.door, place.logged.change.onto)) !== place.tip
}
