import type { Batch } from '../../model/batch.ts'
import type { EditDone } from '../../model/call.ts'
import type { Edit } from '../../model/edit.ts'
import { GalleyError } from '../../model/error.ts'
import { limits } from '../../model/limits.ts'
import type { ResolvedFile } from '../../model/resolution.ts'
import type { DiffFile } from '../../review/diff-file.ts'
import { encodeDiff } from '../../review/unified-diff.ts'
import type { ChangeView } from '../change-view.ts'
import { type Landed, land } from '../land/land.ts'
import { type Asked, isAsAsked, propose } from '../propose.ts'
import { readPolicy } from '../read-policy.ts'
import { refuseBatch } from '../refuse-batch.ts'
import { resolveBatch } from '../resolve-batch.ts'
import { selectBase } from '../select-base.ts'
import { decideCall, heldEnd, withdrawn } from './call-approve.ts'
import { boundFiles, callFiles, compareCallFiles, rewrittenFiles } from './call-files.ts'
import { expectForeign } from './call-own-data.ts'
import { renewReads } from './call-reads.ts'
import { canonicalArguments } from './call-replay.ts'
import { type CallEnd, type RunningCall, refusedEnd } from './call-run.ts'
import { startEntry } from './call-start.ts'

/**
 * Runs one call that edits: check, stage, approval, the journal's line that it begins, re-check, landing.
 *
 * A call that fails its check stages nothing and asks nobody.
 *
 * @throws GalleyError for a call that fails its check, with every failing edit; after that the end says what happened.
 */
export async function runEdit(run: RunningCall): Promise<CallEnd> {
  const { world, dialect, call } = run
  const translation = dialect.translate(call, { item: 0, step: 0, root: run.root })
  const edits = translation.kind === 'edits' ? translation.edits : []
  for (const edit of edits) expectForeign(world, edit.path)
  const resolved = await resolveCall(run)
  const done = await editDone(run, edits, resolved)
  const batch = batchOf(run, titleOf(edits, resolved.files))
  const staged = await propose(world, {
    batch: Buffer.from(JSON.stringify(batch), 'utf8'),
    permissionMode: run.permissionMode,
  })
  return finishCall(run, staged, done)
}

/** Gets a staged call decided and, where it is approved, done. */
export async function finishCall(run: RunningCall, staged: Asked, done: EditDone): Promise<CallEnd> {
  const { change, asked: revision } = staged
  const decision = await decideCall(run, staged, done).catch(async (error: unknown) => {
    if (bindsFile(run)) await withdrawn(run, change.id, 'the call ended before a decision')
    throw error
  })
  if (decision.kind === 'ended') return decision.end
  const { id, state } = decision.change
  const held = state === 'landed' ? null : run.heldBack()
  if (held !== null) return heldEnd(run, decision.change, held)
  const canonical = canonicalArguments(run.dialect.name, run.call, run.root) ?? ''
  const asked = await callFiles(run.world, done.files)
  const files = isAsAsked({ change: decision.change, asked: revision })
    ? asked
    : rewrittenFiles(asked, decision.change)
  await run.journal.append(await startEntry(run, canonical, id, files))
  try {
    const landed =
      decision.change.state === 'landed' ? decision.change : (await landCall(run, id, done)).change
    if (!isAsAsked({ change: landed, asked: revision }))
      return { kind: 'completed', text: `${run.answers.done(done)}\n${REWRITTEN}`, change: landed }
    await renewReads(run, landed, done.edits, done.files)
    return { kind: 'completed', text: run.answers.done(done), change: landed }
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    return failedEnd(run, error, decision.change, files, done)
  }
}

/** The session's reads are renewed by the landing itself then, which knows what the files hold. */
const REWRITTEN =
  'A check then rewrote what this call wrote, and that is what landed. Read the file before you edit it again.'

/** Resolves the call for what the batch does not say: the bytes before and after, for screens, answers and the journal. */
async function resolveCall(run: RunningCall): Promise<Pick<EditDone, 'files' | 'results'>> {
  const { world, permissionMode, dialect } = run
  const { title, agent, edits: _, ...rest } = batchOf(run, 'call')
  const batch: Batch = { ...rest, title, agent, reads: [], items: [run.call] }
  const base = await selectBase(world, batch)
  const { policy } = await readPolicy(world, base.tree)
  const request = { batch, base, policy, permissionMode, carry: policy.freshness.carry }
  const { files, results } = await resolveBatch(world, request)
  const limit = dialect.profile.fileMaxBytes
  const large = files.find(
    ({ after }) => after.kind === 'file' && after.bytes.length > (limit ?? limits.fileMaxBytes),
  )
  if (large?.after.kind === 'file') {
    const bytes = large.after.bytes.length
    const message = `the result of ${large.path} has ${bytes} bytes; this system writes up to ${limit}`
    refuseBatch([{ code: 'too-large', message, data: { bytes, limit }, item: 0, path: large.path }])
  }
  return { files, results }
}

/** An approval holds for one call alone, and for the file as it was then. */
const bindsFile = ({ dialect }: RunningCall): boolean => dialect.profile.bindsFile === true

/** One call as a batch. An approval that holds for one call alone finds no earlier change: the call's id is its key. */
function batchOf(run: RunningCall, title: string) {
  const { dialect, call, journal, id } = run
  return {
    version: 1,
    title,
    agent: { name: dialect.name, session: journal.session },
    dialect: dialect.name,
    edits: [call],
    ...(bindsFile(run) ? { key: id } : {}),
  } as const
}

/** `edit greet.go`, `create a.txt`, `move a to b`, `edit 3 files`. */
function titleOf(edits: readonly Edit[], files: readonly ResolvedFile[]): string {
  const [file] = files
  const moved = edits.find((edit) => edit.op === 'move')
  if (moved !== undefined && edits.every(({ path }) => path === moved.path)) {
    return cut(`move ${moved.path} to ${moved.to}`)
  }
  if (file === undefined || files.length > 1) return `edit ${files.length} files`
  const isWhole = edits.every(({ op }) => op === 'write')
  if (file.after.kind === 'absent') return cut(`delete ${file.path}`)
  if (file.before.kind === 'absent') return cut(`create ${file.path}`)
  return cut(`${isWhole ? 'overwrite' : 'edit'} ${file.path}`)
}

function cut(title: string): string {
  if (title.length <= limits.titleMaxCharacters) return title
  const kept = title.slice(0, limits.titleMaxCharacters - 1)
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`
}

/**
 * Lands an approved call. Where the approval is bound to the file itself, the landing itself finds the file to be what it was when
 * the call was checked, or changes nothing.
 */
async function landCall(run: RunningCall, id: string, done: EditDone): Promise<Landed> {
  const { world } = run
  return land(world, bindsFile(run) ? { id, bound: boundFiles(done.files) } : { id })
}

async function failedEnd(
  run: RunningCall,
  error: GalleyError,
  change: ChangeView,
  files: Awaited<ReturnType<typeof callFiles>>,
  done: EditDone,
): Promise<CallEnd> {
  if (error.data['landed'] === true) {
    const isDone = (await compareCallFiles(run.world, files)) === 'after'
    const text = isDone ? run.answers.done(done) : `${error.message}. Read the file before going on.`
    return { kind: isDone ? 'completed' : 'unknown', text, change }
  }
  if (bindsFile(run)) {
    return refusedEnd(run, error, 'failed', await withdrawn(run, change.id, error.message))
  }
  const end = refusedEnd(run, error, 'failed', change)
  return { ...end, text: `${end.text}\nThe change is kept as ${change.id}: \`galley show ${change.id}\`.` }
}

/** What answers and screens are made of; the diff is drawn when one asks for it. */
export async function editDone(
  { world, call }: RunningCall,
  edits: readonly Edit[],
  { files, results }: Pick<EditDone, 'files' | 'results'>,
): Promise<EditDone> {
  const ids = new Map((await callFiles(world, files)).map(({ path, after }) => [path, after ?? '']))
  const diff = () =>
    encodeDiff(
      files.map((file) => diffFile(file, ids)),
      { contextLines: 3 },
    ).toString('utf8')
  return { call, edits, files, results, diff }
}

function diffFile(
  { path, before, after, renamedFrom }: ResolvedFile,
  ids: ReadonlyMap<string, string>,
): DiffFile {
  const mode = (executable: boolean) => (executable ? '100755' : '100644')
  const beforeSide =
    before.kind === 'file'
      ? ({ mode: mode(before.executable), blob: before.blob, bytes: before.bytes } as const)
      : null
  const afterSide =
    after.kind === 'file'
      ? ({ mode: mode(after.executable), blob: ids.get(path) ?? '', bytes: after.bytes } as const)
      : null
  return { path, before: beforeSide, after: afterSide, ...(renamedFrom === undefined ? {} : { renamedFrom }) }
}
