import { profileFailures } from '../../dialects/profile-rules.ts'
import type { ReadCall } from '../../model/dialect.ts'
import { refuse } from '../../model/error.ts'
import { type FileBytes, readEntry, readFileBytes } from '../read.ts'
import { refuseBatch } from '../refuse-batch.ts'
import { expectForeign } from './call-own-data.ts'
import { canonicalArguments } from './call-replay.ts'
import type { CallEnd, RunningCall } from './call-run.ts'
import { startEntry } from './call-start.ts'

/** Of what a read shows, the journal keeps the beginning: the bytes themselves are in the store. */
const KEPT_CHARACTERS = 1024

/**
 * Answers a call that only reads. Needs no approval. Leaves the read in the session's journal, with the lines shown,
 * before it is shown.
 *
 * @throws GalleyError as `readFile`, and with the codes of the system's own limits.
 */
export async function runRead(run: RunningCall, asked: ReadCall): Promise<CallEnd> {
  const { world, call, journal, answers } = run
  expectForeign(world, asked.path)
  const file = await readFileBytes(world, { path: asked.path, session: journal.session })
  expectReadable(run, asked.path, file)
  const answer = answers.read(call, asked, file.bytes)
  if (answer.kind === 'refused') return { kind: 'invalid_arguments', text: answer.text, change: null }
  const canonical = canonicalArguments(run.dialect.name, call, run.root) ?? ''
  await journal.append(
    await startEntry(run, canonical, null, []),
    await readEntry(world, asked.path, file, answer.lines),
  )
  const { text } = answer
  const kept = text.length <= KEPT_CHARACTERS ? {} : { keptText: `${text.slice(0, KEPT_CHARACTERS)}…` }
  return { kind: 'completed', text, change: null, ...kept }
}

/** A system that edits only some kinds of files reads only those. */
function expectReadable({ dialect }: RunningCall, path: string, file: FileBytes): void {
  const { profile } = dialect
  if (profile.bindsFile === true && file.links > 1) {
    refuse('hard-linked', `${path} has ${file.links} names on disk`, { path, links: file.links })
  }
  if (profile.wholeFileUtf8 !== 'every-edit') return
  const state = { kind: 'file', bytes: file.bytes, executable: file.executable, blob: file.blob } as const
  const edit = { op: 'append', item: 0, step: 0, path, content: '' } as const
  const failures = profileFailures({
    edits: [edit],
    profiles: [{ ...profile, needsRead: false }],
    files: new Map([[path, state]]),
    reads: [],
  })
  if (failures.length > 0)
    refuseBatch(failures.map((f) => ({ ...f, message: f.message.replace(/^append of /, 'read ') })))
}
