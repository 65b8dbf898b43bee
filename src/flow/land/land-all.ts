import { parseCommit } from '../../git/commit.ts'
import { isTrue } from '../../git/config.ts'
import { type Importer, openImporter } from '../../git/fast-import.ts'
import { lookUpPath, type ObjectReader } from '../../git/objects.ts'
import { resolveCommit, updateRefs } from '../../git/refs.ts'
import { type LandReport, type LandRequest, landCommit } from '../../landing/land-commit.ts'
import type { Revision } from '../../model/change.ts'
import { GalleyError, type Refusal } from '../../model/error.ts'
import type { ChangeId, CommitId, RefName, TreeId } from '../../model/ids.ts'
import { zeroId } from '../../model/ids.ts'
import { type Manifest, manifestOf, type Transition } from '../../model/manifest.ts'
import { renamesOf } from '../../model/renames.ts'
import { applicableChecks } from '../../policy/required-checks.ts'
import { type LoggedChange, listChanges } from '../../store/change-log.ts'
import { landingRef, logRef } from '../../store/change-refs.ts'
import { withLandingLock } from '../../store/lock.ts'
import type { Store } from '../../store/open-store.ts'
import { currentRevision } from '../check.ts'
import { believable } from '../exchange/foreign-change.ts'
import { makesLinks } from '../judge-links.ts'
import { loadChange, refuseLostBase } from '../logged-change.ts'
import { type PolicyInForce, readPolicy, withBasePolicy } from '../read-policy.ts'
import { type Recorded, recordOrTell } from '../record-landing.ts'
import { finishInterrupted } from '../recover.ts'
import { storedChanges } from '../stored-changes.ts'
import { findTeamHooks } from '../team-hooks.ts'
import type { World } from '../world.ts'
import { land } from './land.ts'
import { decide, movedReads, refuseByManifest } from './land-facts.ts'
import { expectApproved } from './landing-commit.ts'
import { takenOverBy } from './taken-over.ts'

export interface LandedAll {
  readonly landed: readonly Recorded[]
  /** Approved changes that stay as they were, with the reason of each. */
  readonly refused: readonly { readonly id: ChangeId; readonly refusal: Refusal }[]
}

/**
 * Lands every approved change for the branch checked out, oldest first, as one queue: changes that touch different files are
 * chained in the store and put into branch, index and working tree in one step.
 *
 * A change that cannot join the chain (its files moved, a check has to run on the commit that lands, commits are signed) lands by
 * itself after it. One that is refused keeps nobody else back.
 *
 * @throws GalleyError `io-error` with `landed: true`, `id` and `others` (which landed before), where the branch has moved and the rest
 * could not follow.
 */
export async function landAll(world: World): Promise<LandedAll> {
  const store = await world.store()
  return withLandingLock(store.galleyDir, world.clock, 'all', async () => {
    world.forgetHead()
    await finishInterrupted(world)
    await world.identity()
    const { ref } = await world.head()
    const ids = (await listChanges(store))
      .filter((c) => c.state === 'approved' && c.onto === ref)
      .map((c) => c.id)
    const queue = ids.reverse()
    const chained = await landChain(world, store, ref, queue)
    return landRest(world, chained, queue)
  })
}

async function landRest(
  world: World,
  chained: readonly Recorded[],
  queue: readonly ChangeId[],
): Promise<LandedAll> {
  const done = new Set(chained.map((c) => c.change.id))
  const landed: Recorded[] = [...chained]
  const refused: { id: ChangeId; refusal: Refusal }[] = []
  for (const id of queue.filter((each) => !done.has(each))) {
    try {
      landed.push(await land(world, { id }))
    } catch (error) {
      if (!(error instanceof GalleyError) || error.code === 'internal') throw error
      const { code, message, data } = error
      // The branch has moved: that is no refusal, and nothing goes on top of it before it is recovered.
      if (data['landed'] === true) {
        const others = landed.map((one) => one.change.id)
        const hint = error.hint ?? 'Run `galley recover`.'
        throw new GalleyError({ code, message, data: { ...data, id, others }, hint }, { cause: error })
      }
      refused.push({ id, refusal: { code, message, data } })
    }
  }
  return { landed, refused }
}

interface Link {
  readonly logged: LoggedChange
  readonly parent: CommitId | null
  readonly commit: CommitId
}

/** Chains what can be chained on the tip, and lands the end of the chain: one update of the working tree for the lot. */
async function landChain(
  world: World,
  store: Store,
  ref: RefName,
  queue: readonly ChangeId[],
): Promise<readonly Recorded[]> {
  const tip = await resolveCommit(world.repository.door, ref)
  if (queue.length < 2 || isTrue((await world.config()).get('commit.gpgsign'))) return []
  const reader = await world.reader()
  const tree = tip === null ? null : await reader.commitTree(tip)
  const policy = await readPolicy(world, tree)
  // The team's own hooks run on every commit that lands.
  if (policy.policy.checkHooks && (await findTeamHooks(world.repository)).length > 0) return []
  const importer = openImporter(store.door, { asPack: true })
  const chain = new Chain(reader, tree, zeroId(world.repository.objectFormat))
  const links: Link[] = []
  for (const id of queue) {
    const logged = await chainable(world, store, policy, chain, tip, id)
    if (logged === null) continue
    const parent = links.at(-1)?.commit ?? tip
    const revision = currentRevision(logged)
    links.push({ logged, parent, commit: await importLink(world, importer, revision, parent) })
    chain.add(revision.manifest)
  }
  await importer.finish()
  for (const link of links) await expectApproved(store, currentRevision(link.logged), link)
  return links.length < 2 ? [] : landLinks(world, store, { ref, tip, links, manifest: chain.manifest() })
}

/** The change, if it may land now and touches nothing that an earlier link or the branch has moved. */
async function chainable(
  world: World,
  store: Store,
  policy: PolicyInForce,
  chain: Chain,
  tip: CommitId | null,
  id: ChangeId,
): Promise<LoggedChange | null> {
  try {
    const found = await loadChange(world, store, id)
    if (found.change.stackedOn !== null) return null
    const { base, manifest } = currentRevision(found)
    const both = await withBasePolicy(world, policy, base)
    if (applicableChecks(both.policy, manifest).length > 0) return null
    await refuseLostBase(world, store, found)
    const logged = await believable(world, store, found, policy)
    const revision = currentRevision(logged)
    const isPlain = revision.files.every((f) => f.working === undefined && f.taken === undefined)
    if (!isPlain || takenOverBy(logged).size > 0) return null
    // Where a link leads is judged on the very tip that it lands on.
    if (makesLinks(revision.manifest)) return null
    refuseByManifest(policy, revision.manifest)
    const reads = await movedReads(world, revision)
    const decision = await decide(world, store, logged, policy, tip, reads)
    const fits = decision.kind === 'fast-forward' || decision.kind === 're-parent'
    return fits && reads.length === 0 && (await chain.takes(revision.manifest)) ? logged : null
  } catch (error) {
    // Whatever is the matter with it, its own landing says so.
    if (error instanceof GalleyError && error.code !== 'internal') return null
    throw error
  }
}

async function importLink(
  world: World,
  importer: Importer,
  revision: Revision,
  parent: CommitId | null,
): Promise<CommitId> {
  const original = await parseCommit(await world.reader(), revision.commit)
  const changes = storedChanges(revision.manifest)
  const { author, message } = original
  return (await importer.commit({ parent, author, committer: await world.identity(), message, changes }))
    .commit
}

interface WholeChain {
  readonly ref: RefName
  readonly tip: CommitId | null
  readonly links: readonly Link[]
  readonly manifest: Manifest
}

async function landLinks(world: World, store: Store, chain: WholeChain): Promise<readonly Recorded[]> {
  const { ref, tip, links } = chain
  const last = links.at(-1)
  if (last === undefined) return []
  // As for a single landing: which commits are about to land, and that no log has moved since it was read.
  const updates = links.flatMap(({ logged, commit }) => [
    { ref: landingRef(logged.change.id), expected: logged.refs.landing, next: commit },
    { ref: logRef(logged.change.id), expected: logged.tip, next: logged.tip },
  ])
  if (!(await updateRefs(store.door, updates, 'galley: landing all'))) return []
  const report = await landOrNull({
    repository: world.repository,
    store: store.door,
    reader: await world.reader(),
    galleyDir: store.galleyDir,
    label: last.logged.change.id,
    ref,
    before: tip,
    after: last.commit,
    manifest: chain.manifest,
    working: new Map(),
    renames: renamesOf(links.map(({ logged }) => currentRevision(logged))),
    reason: `galley: land ${links.length} changes`,
    clock: world.clock,
  })
  if (report === null) return []
  const landed: Recorded[] = []
  let before = tip
  for (const { logged, commit } of links) {
    const recorded = await recordOrTell(world, store, logged, { ref, before, after: commit })
    landed.push(
      commit === last.commit ? { ...recorded, remarks: [...recorded.remarks, ...report.remarks] } : recorded,
    )
    before = commit
  }
  return landed
}

/** null = refused: what one of them cannot do must not keep the others back, so each lands by itself then. */
async function landOrNull(request: LandRequest): Promise<LandReport | null> {
  try {
    return await landCommit(request)
  } catch (error) {
    const isRefusal =
      error instanceof GalleyError && error.code !== 'internal' && error.data['landed'] !== true
    if (isRefusal) return null
    throw error
  }
}

/** What the links so far make of the tip's tree. */
class Chain {
  private readonly reader: ObjectReader
  private readonly tree: TreeId | null
  private readonly zero: string
  private readonly entries = new Map<string, Transition>()

  constructor(reader: ObjectReader, tree: TreeId | null, zero: string) {
    this.reader = reader
    this.tree = tree
    this.zero = zero
  }

  /** Whether every transition starts from what the chain, or else the tip, has at its path. */
  async takes(manifest: Manifest): Promise<boolean> {
    for (const t of manifest) {
      const now = this.entries.get(t.path) ?? (await this.atTip(t.path))
      if (now === null || now.newMode !== t.oldMode || now.newBlob !== t.oldBlob) return false
    }
    return true
  }

  add(manifest: Manifest): void {
    for (const t of manifest) {
      const before = this.entries.get(t.path)
      this.entries.set(
        t.path,
        before === undefined ? t : { ...t, oldMode: before.oldMode, oldBlob: before.oldBlob },
      )
    }
  }

  /** From the tip to the end of the chain; a path that ends as it began is none. */
  manifest(): Manifest {
    return manifestOf(
      [...this.entries.values()].filter((t) => t.oldMode !== t.newMode || t.oldBlob !== t.newBlob),
    )
  }

  /** The tip's entry as a step that leads to it; null where the path is blocked by a file or is a directory. */
  private async atTip(path: string): Promise<Transition | null> {
    const found = await lookUpPath(this.reader, this.tree, path)
    const nothing = { path, oldMode: '000000' as const, oldBlob: this.zero }
    if (found.kind === 'absent') return { ...nothing, newMode: '000000', newBlob: this.zero }
    return found.kind === 'file' ? { ...nothing, newMode: found.entry.mode, newBlob: found.entry.id } : null
  }
}
