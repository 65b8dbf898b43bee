import { reverseHunks } from '../../editing/reverse-hunks.ts'
import { findRenames } from '../../git/diff-tree.ts'
import { type FileChange, openImporter } from '../../git/fast-import.ts'
import { refuse } from '../../model/error.ts'
import type { TreeId } from '../../model/ids.ts'
import type { Manifest, Transition } from '../../model/manifest.ts'
import type { Policy } from '../../model/policy.ts'
import { renamesOf as namedMoves } from '../../model/renames.ts'
import { judgeTransitions } from '../../policy/judge.ts'
import { choosePaths, type UndoWish, withRenames } from '../../policy/undo-decision.ts'
import type { DiffFile } from '../../review/diff-file.ts'
import { type NumberedHunk, numberHunks } from '../../review/unified-diff.ts'
import type { ObjectsAside } from '../../store/objects-aside.ts'
import { pairFiles } from '../pair-files.ts'
import { refuseBatch } from '../refuse-batch.ts'
import { digestOf } from '../stage.ts'
import { storedChange, storedChanges } from '../stored-changes.ts'
import type { UndoStep } from './undo-target.ts'

/** Context of the hunks that `show` and `diff` number. */
const CONTEXT_LINES = 3

/** The part of a commit that is to be taken back. */
export interface ChosenPart {
  /** `whole`: the wish comes to all of the commit; `nothing`: to none of it. */
  readonly kind: 'whole' | 'part' | 'nothing'
  /** The commit's tree with the part as it was before. */
  readonly theirs: TreeId
  /** Paths of the part, sorted. */
  readonly paths: readonly string[]
  /** Of the wish, those that name nothing of this commit. */
  readonly unknownPaths: readonly string[]
}

interface PartFacts {
  readonly step: UndoStep
  /** From the commit's parent to the commit. */
  readonly manifest: Manifest
  readonly before: TreeId
  readonly wish: Pick<UndoWish, 'paths' | 'hunks'>
  readonly policy: Policy
  readonly laterNames: ReadonlyMap<string, string>
}

/**
 * Cuts the wished part out of a commit. The tree is written aside, without an index.
 *
 * @throws GalleyError `out-of-range` for a number that no hunk has, `wrong-state` where the numbers shown are another diff's, and what the
 * policy says of the part's paths.
 */
export async function choosePart(aside: ObjectsAside, facts: PartFacts): Promise<ChosenPart> {
  const { step, manifest, wish } = facts
  const renames = await renamesOf(aside, step, manifest)
  const choice = choosePaths(wish.paths, manifest, renames, facts.laterNames)
  const cuts = wish.hunks.length === 0 ? [] : await cutHunks(aside, facts, renames)
  const whole = withRenames(
    new Set([...choice.chosen, ...cuts.filter((cut) => cut.bytes === null).map((cut) => cut.path)]),
    renames,
  )
  const cut = cuts.filter((c) => !whole.has(c.path))
  const paths = [...whole, ...cut.map((c) => c.path)].sort()
  const unknownPaths = choice.unknown
  if (paths.length === 0) return { kind: 'nothing', theirs: facts.before, paths, unknownPaths }
  if (manifest.every((t) => whole.has(t.path)))
    return { kind: 'whole', theirs: facts.before, paths, unknownPaths }
  const back = manifest.filter((t) => whole.has(t.path)).map(inverse)
  const denied = judgeTransitions(facts.policy, back, () => 0)
  if (denied.length > 0) refuseBatch(denied)
  const changes = [...storedChanges(back), ...cut.flatMap((c) => cutChange(c, manifest))]
  return { kind: 'part', theirs: await writeTree(aside, step, changes), paths, unknownPaths }
}

/** What the change's own log says of renames, as far as it is true of this commit; else what git finds. */
async function renamesOf(
  aside: ObjectsAside,
  step: UndoStep,
  manifest: Manifest,
): Promise<ReadonlyMap<string, string>> {
  const revision = step.change?.revisions.at(-1)
  if (revision === undefined || revision.digest !== digestOf(manifest)) {
    const canRename = manifest.some(isGone) && manifest.some(isNew)
    return canRename ? findRenames(aside.door, step.parent, step.commit) : new Map()
  }
  return namedMoves([revision])
}

/** A file of which some hunks go; `bytes` null = all of them. */
interface Cut {
  readonly path: string
  readonly bytes: Uint8Array | null
}

async function cutHunks(
  aside: ObjectsAside,
  { step, manifest, wish }: PartFacts,
  renames: ReadonlyMap<string, string>,
): Promise<readonly Cut[]> {
  const { change } = step
  if (change !== null && change.revisions.at(-1)?.digest !== digestOf(manifest)) {
    const message = `${change.id} stands by ${step.commit}, whose hunks may have other numbers than those shown`
    const hint = `Name that commit: galley undo ${step.commit}, and try the numbers with --dry-run.`
    refuse('wrong-state', message, { id: change.id, commit: step.commit }, hint)
  }
  const files = await pairFiles(aside.stored, manifest, renames)
  const hunks = numberHunks(files, CONTEXT_LINES)
  const wrong = wish.hunks.filter((n) => n > hunks.length)
  if (wrong.length > 0) {
    const message = `undo ${step.commit}: it has ${hunks.length} hunk${hunks.length === 1 ? '' : 's'}, and none is number ${wrong.join(', ')}`
    refuse('out-of-range', message, { hunks: wish.hunks, count: hunks.length })
  }
  const wanted = new Set(wish.hunks)
  return files.flatMap((file) => cutFile(file, hunks, wanted))
}

function cutFile(
  file: DiffFile,
  hunks: readonly NumberedHunk[],
  wanted: ReadonlySet<number>,
): readonly Cut[] {
  const own = hunks.filter((h) => h.path === file.path)
  const chosen = own.filter((h) => wanted.has(h.number))
  if (chosen.length === 0) return []
  const { before, after } = file
  const isText = before !== null && after !== null && isRegular(before.mode) && isRegular(after.mode)
  if (!isText || chosen.length === own.length) return [{ path: file.path, bytes: null }]
  return [{ path: file.path, bytes: reverseHunks(before.bytes, after.bytes, chosen) }]
}

/** A link's target is one text, of which no part can be taken back. */
const isRegular = (mode: string): boolean => mode.startsWith('100')

const isGone = (t: Transition): boolean => t.newMode === '000000'
const isNew = (t: Transition): boolean => t.oldMode === '000000'

const inverse = (t: Transition): Transition => ({
  path: t.path,
  oldMode: t.newMode,
  oldBlob: t.newBlob,
  newMode: t.oldMode,
  newBlob: t.oldBlob,
})

function cutChange({ path, bytes }: Cut, manifest: Manifest): readonly FileChange[] {
  const change = manifest.filter((t) => t.path === path).map(storedChange)[0]
  if (bytes === null || change?.kind !== 'blob' || change.mode === '160000') return []
  return [{ kind: 'bytes', path, mode: change.mode, bytes }]
}

const NOBODY = { name: 'galley', email: 'galley@localhost', date: '1 +0000' }

async function writeTree(
  aside: ObjectsAside,
  step: UndoStep,
  changes: readonly FileChange[],
): Promise<TreeId> {
  const importer = openImporter(aside.door, { asPack: true })
  const person = { author: NOBODY, committer: NOBODY }
  const { tree } = await importer.commit({ parent: step.commit, ...person, message: 'part', changes })
  await importer.finish()
  return tree
}
