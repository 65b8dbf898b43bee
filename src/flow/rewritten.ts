import type { JudgeRewriting } from '../checks/rewriting.ts'
import type { CheckRun, Rewriting } from '../checks/run-command.ts'
import { parseCommit } from '../git/commit.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { Change, Revision, RevisionFile } from '../model/change.ts'
import { GalleyError, invariant } from '../model/error.ts'
import type { CommitId } from '../model/ids.ts'
import type { Manifest, Transition } from '../model/manifest.ts'
import type { Remark } from '../model/resolution.ts'
import { judgeTransitions } from '../policy/judge.ts'
import type { LoggedChange } from '../store/change-log.ts'
import { coveredBy } from '../store/covered-paths.ts'
import { withLandingLock } from '../store/lock.ts'
import type { Store } from '../store/open-store.ts'
import { countFiles } from './count-files.ts'
import type { PolicyInForce } from './read-policy.ts'
import { type Words, wordsOfMessage } from './rewritten-message.ts'
import { siftWork } from './sift-work.ts'
import { digestOf, stageRevision } from './stage.ts'
import { storedChanges } from './stored-changes.ts'
import type { World } from './world.ts'

/** Revisions that checks may make of one in one go. Two that mend each other's results would never end. */
const REWRITINGS_MAX = 5

/** A check whose rewriting is to be the next revision. */
export interface Rewriter {
  readonly name: string
  readonly rewriting: Rewriting
}

/** The run that ended a round of checks, if it was ended by one that rewrote files. */
export function rewriterAmong(runs: readonly CheckRun[]): Rewriter | null {
  const last = runs.at(-1)
  return last?.rewriting === undefined ? null : { name: last.result.name, rewriting: last.rewriting }
}

const REWRITTEN_BY = 'rewritten by '

/** Checks whose rewritings led to the current revision, one after the other, oldest first. */
export function rewritersOf({ log }: Pick<Change, 'log'>): readonly string[] {
  const reasons = log.flatMap((e) => (e.kind === 'staged' || e.kind === 'restaged' ? [e.reason] : []))
  const begun = reasons.findLastIndex((reason) => !reason.startsWith(REWRITTEN_BY))
  return reasons.slice(begun + 1).map((reason) => reason.slice(REWRITTEN_BY.length))
}

/**
 * The words of a change as they were before its hooks put them otherwise; null = those are the change's words still. git asks each hook once
 * for a commit: one that adds a line at every run would add it at every check.
 */
export function wordsBeforeHooks({ log }: Pick<Change, 'log'>): Words | null {
  let words: Words | null = null
  let before: Words | null = null
  for (const event of log) {
    if (event.kind !== 'proposed' && event.kind !== 'staged' && event.kind !== 'restaged') continue
    if (event.title === undefined && event.body === undefined) continue
    const next: Words = { title: event.title ?? words?.title ?? '', body: event.body ?? words?.body ?? '' }
    const isByHooks = event.kind !== 'proposed' && event.reason.startsWith(REWRITTEN_BY)
    before = isByHooks ? (before ?? words) : null
    words = next
  }
  return before
}

interface JudgeFacts {
  readonly change: Change
  readonly revision: Revision
  readonly inForce: PolicyInForce
  /** What the next revision is to build on. */
  readonly base: CommitId | null
  /** Checks whose rewritings were taken in this go, oldest first. */
  readonly rewriters: readonly string[]
}

/**
 * Decides on what checks make of a revision's files: it must be something that an agent could have proposed, and a check that rewrites
 * its own result comes to no end.
 */
export function rewritingJudge(world: World, store: Store, facts: JudgeFacts): JudgeRewriting {
  const { rewriters } = facts
  return async (check, rewriting) => {
    if (rewriters.at(-1) === check) return 'it had rewritten them already, and comes to no end'
    if (rewriters.length >= REWRITINGS_MAX)
      return 'checks rewrite what other checks wrote, and come to no end'
    const words = wordsIn(rewriting, facts)
    if (typeof words === 'string') return words
    const sifted = await siftRewriting(world, store, rewriting, facts)
    return typeof sifted === 'string' ? sifted : null
  }
}

type SiftFacts = Pick<JudgeFacts, 'change' | 'revision' | 'inForce' | 'base'>

/** The new words, or none where the message is as it was; a text = why they cannot be a change's. */
const wordsIn = ({ message }: Rewriting, { change }: SiftFacts): Partial<Words> | string =>
  message === null ? {} : wordsOfMessage(message, change)

/** What the files came to, as a manifest; a text = why that cannot be a revision. */
async function siftRewriting(
  world: World,
  store: Store,
  { tree, brought }: Rewriting,
  { base, inForce, revision }: SiftFacts,
): Promise<Manifest | string> {
  if (tree === null) return revision.manifest
  const { fileMaxBytes, batchMaxFiles } = inForce.policy.limits
  const from = base === null ? null : await (await world.reader()).commitTree(base)
  const isBrought = coveredBy(brought)
  try {
    const { manifest, leftOut } = await siftWork(world, store, { from, to: tree }, { brought, fileMaxBytes })
    const odd = [...leftOut].find(([path]) => !isBrought(path))
    if (odd !== undefined) return odd[1]
    if (manifest.length === 0) return 'nothing is left of the change'
    if (digestOf(manifest) === revision.digest) return 'none of that can be part of a change'
    if (manifest.length > batchMaxFiles) return `${manifest.length} files; ${batchMaxFiles} are allowed`
    const [denied] = judgeTransitions(inForce.policy, manifest, () => 0)
    return denied === undefined ? manifest : denied.message
  } catch (error) {
    if (error instanceof GalleyError && error.code !== 'internal') return error.message
    throw error
  }
}

/**
 * Stages what a check made of a revision as the next one, by the same author. Not while the change is landing.
 *
 * @throws GalleyError `busy`, if another process changed the change since it was read.
 */
export async function stageRewritten(
  world: World,
  store: Store,
  logged: LoggedChange,
  request: Rewriter & SiftFacts,
): Promise<LoggedChange> {
  const { name, rewriting, base, revision } = request
  const manifest = await siftRewriting(world, store, rewriting, request)
  const words = wordsIn(rewriting, request)
  invariant(
    typeof manifest !== 'string' && typeof words !== 'string',
    `what ${name} wrote can be a revision, as was found before`,
  )
  const reader = await world.reader()
  const { author } = await parseCommit(reader, revision.commit)
  const isAsBefore = sameTransitions(revision.manifest)
  const rewritten = manifest.filter((t) => !isAsBefore(t))
  const remarks = rewritten.map(({ path }): Remark => {
    return { kind: 'rewritten', item: 0, path, text: `${REWRITTEN_BY}${name}` }
  })
  const next = {
    base,
    content: { kind: 'changes', changes: storedChanges(manifest), manifest },
    files: await filesOf(reader, manifest, revision, new Set(rewritten.map((t) => t.path))),
    remarks: [...revision.remarks, ...remarks],
    reads: revision.reads,
    author,
    committer: await world.identity(),
  } as const
  return withLandingLock(store.galleyDir, world.clock, 'revise', () =>
    stageRevision(world, store, logged, next, `${REWRITTEN_BY}${name}`, words),
  )
}

function sameTransitions(before: Manifest): (transition: Transition) => boolean {
  const known = new Map(before.map((t) => [t.path, t]))
  return (t) => {
    const found = known.get(t.path)
    return found?.newBlob === t.newBlob && found.newMode === t.newMode && found.oldBlob === t.oldBlob
  }
}

/** What is known of the files stays so where the check left them alone; a rename whose source is back is none. */
export async function filesOf(
  reader: ObjectReader,
  manifest: Manifest,
  revision: Revision,
  rewritten: ReadonlySet<string>,
): Promise<readonly RevisionFile[]> {
  const gone = new Set(manifest.filter((t) => t.newMode === '000000').map((t) => t.path))
  const known = revision.files.map(({ renamedFrom, ...file }): RevisionFile => {
    return renamedFrom === undefined || !gone.has(renamedFrom) ? file : { ...file, renamedFrom }
  })
  const working = new Map(revision.files.map((file) => [file.path, file.working]))
  return (await countFiles(reader, manifest, known)).map((file) => {
    const kept = rewritten.has(file.path) ? undefined : working.get(file.path)
    return kept === undefined ? file : { ...file, working: kept }
  })
}
