import { join } from 'node:path'
import { hostPath } from '../../dialects/agent-zero-path.ts'
import {
  type AgentZeroAction,
  errorText,
  failureText,
  readFile,
  totalLines,
} from '../../dialects/answers/agent-zero.ts'
import { ignoredPaths } from '../../git/check-ignore.ts'
import { GalleyError, type Refusal } from '../../model/error.ts'
import { recordInSession } from '../../store/sessions.ts'
import { fileFacts } from '../../sys/file-facts.ts'
import { callTool } from '../call/call.ts'
import type { CallApproval } from '../call/call-run.ts'
import type { ChangeView } from '../change-view.ts'
import { type FileBytes, readEntry, readFileBytes } from '../read.ts'
import type { World } from '../world.ts'

/** One file operation that a server asks of this host, its values as they came. */
export interface HostOperation {
  readonly op: string
  /** `path`, and the arguments of the operation. */
  readonly input: Readonly<Record<string, unknown>>
}

export interface HostRules {
  /** Names whose reads count: two conversations share none. */
  readonly session: string
  readonly allowsWrites: boolean
  /** Files that the ignore rules cover and git does not track: secrets lie there. */
  readonly allowsIgnored: boolean
  readonly approval: CallApproval
  /** Asked before an approved edit takes effect: why it may not any more, or null. */
  readonly heldBack: () => string | null
}

export interface HostAnswer {
  readonly wire:
    | { readonly ok: true; readonly result: Readonly<Record<string, unknown>> }
    | {
        readonly ok: false
        readonly error: string
        readonly code?: string
        readonly details?: Readonly<Record<string, unknown>>
      }
  /** The change that an edit was staged as. */
  readonly change: ChangeView | null
}

const READ_ONLY = 'Frontend file writes are disabled in this CLI session. Press F3 to switch to Read&Write.'

/**
 * Does one file operation of Agent Zero's protocol in the repository, and answers under the names of its wire: `read` and `stat` of the
 * work tree, `write` and `patch` as changes through the gate.
 *
 * Every refusal is an answer. An edit leaves what `call` leaves; a read a line in the session's journal.
 *
 * The order of the rules is that host's: an operation that writes is refused in read-only mode before its arguments are looked at, an
 * unknown one in any mode. Beyond its rules: nothing outside the repository, nothing behind a link, no ignored file unless allowed.
 */
export async function hostOperation(
  world: World,
  operation: HostOperation,
  rules: HostRules,
): Promise<HostAnswer> {
  const op = operation.op.trim().toLowerCase()
  if ((op === 'write' || op === 'patch') && !rules.allowsWrites) return failed(READ_ONLY)
  if (op !== 'read' && op !== 'write' && op !== 'patch' && op !== 'stat') return failed(`Unknown op: ${op}`)
  const { path: given } = operation.input
  const shown = typeof given === 'string' ? given : ''
  try {
    // The work tree itself is no file, by whatever name.
    if (/^[\s./\\]*$/.test(shown) && !shown.includes('..')) return failed(`File not found: ${shown}`)
    const path = await hostFile(world, shown, rules)
    if (op === 'stat') return succeeded({ file: factsOf(world, path, await readFileBytes(world, { path })) })
    if (op === 'read') return await readForHost(world, { ...operation, path, shown }, rules)
    return await editForHost(world, { ...operation, op, path, shown }, rules)
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    return refused(error, shown)
  }
}

interface PlacedOperation extends HostOperation {
  /** Of the repository. */
  readonly path: string
  /** As the server gave it. */
  readonly shown: string
}

/** The path in the repository. @throws GalleyError `outside-repository`, `path-invalid`, `denied-path`. */
async function hostFile({ repository }: World, given: string, rules: HostRules): Promise<string> {
  const mapped = hostPath(given, repository.workTree ?? repository.gitDir)
  if (mapped.kind === 'refused') throw new GalleyError(mapped.refusal)
  const { path } = mapped
  if (!rules.allowsIgnored && (await ignoredPaths(repository.door, [path])).has(path))
    throw new GalleyError({
      code: 'denied-path',
      message: `the ignore rules of this repository cover ${path}, so that no agent reads or writes it`,
      data: { path },
      hint: 'A person can allow it: galley connect --allow-ignored.',
    })
  return path
}

async function readForHost(
  world: World,
  { input, path }: PlacedOperation,
  { session }: HostRules,
): Promise<HostAnswer> {
  const from = lineOf(input['line_from'])
  const to = lineOf(input['line_to'])
  if (from === undefined || to === undefined)
    return failed(
      `line_from and line_to are whole numbers; they are ${JSON.stringify([input['line_from'], input['line_to']]).slice(0, 200)}`,
    )
  const file = await readFileBytes(world, { path, session })
  const answer = readFile(file.bytes, from, to)
  if (!answer.ok) return { wire: answer, change: null }
  const { line_from: first, line_to: last, total_lines: total } = answer.result
  const lines = first <= 1 && last >= total ? null : { from: first, to: last }
  await world.atWork()
  await recordInSession(await world.store(), session, [await readEntry(world, path, file, lines)])
  return succeeded({ ...answer.result, file: factsOf(world, path, file) })
}

/** A line number as the host takes it: absent, 0 and text of digits count; undefined = it is none. */
function lineOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === 0 || value === '' || value === false) return null
  const number = typeof value === 'string' && /^\s*[+-]?\d{1,9}\s*$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : undefined
}

async function editForHost(
  world: World,
  { op, input, path, shown }: PlacedOperation,
  { session, approval, heldBack }: HostRules,
): Promise<HostAnswer> {
  const { action: _, ...rest } = input
  const call = { tool: 'text_editor_remote', input: { ...rest, action: op, path: shown } }
  const { ok, result, change } = await callTool(world, {
    call: Buffer.from(JSON.stringify(call), 'utf8'),
    dialect: 'agent-zero',
    session,
    approval,
    heldBack,
  })
  if (!ok) {
    // The server puts this before every error by itself.
    const prefix = failureText(op as AgentZeroAction, shown.trim(), '')
    const error = result.text.startsWith(prefix) ? result.text.slice(prefix.length) : result.text
    const details = change === null ? {} : { details: { change: change.id, state: change.state } }
    return { wire: { ok: false, error, ...details }, change }
  }
  const file = factsOf(world, path, await readFileBytes(world, { path }))
  return { wire: { ok: true, result: { path: shown, message: result.text, file } }, change }
}

/** The block of facts that every success carries. The time is for the server's own rule; galley goes by the file's bytes. */
function factsOf({ repository }: World, path: string, { bytes }: Pick<FileBytes, 'bytes'>) {
  const place = join(repository.workTree ?? repository.gitDir, path)
  const facts = fileFacts(place)
  return {
    realpath: facts?.realPath ?? place,
    mtime: facts?.modifiedSeconds ?? null,
    total_lines: totalLines(bytes),
  }
}

const succeeded = (result: Readonly<Record<string, unknown>>): HostAnswer => ({
  wire: { ok: true, result },
  change: null,
})

const failed = (error: string): HostAnswer => ({ wire: { ok: false, error }, change: null })

function refused(refusal: Refusal, path: string): HostAnswer {
  return { wire: { ok: false, error: errorText(refusal, path) }, change: null }
}
