import { answersOf } from '../../dialects/answers/registry.ts'
import { detect } from '../../dialects/registry.ts'
import type { DialectName, ToolItem } from '../../model/batch.ts'
import type { CallResult } from '../../model/call.ts'
import type { Dialect } from '../../model/dialect.ts'
import { GalleyError, invariant, type Refusal, refuse } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'
import type { PermissionMode } from '../../model/policy.ts'
import type { Store } from '../../store/open-store.ts'
import type { CallEntry, KeptText, OutcomeEntry } from '../../store/sessions.ts'
import { type CallJournal, callsOf, keepText, loadText, openCallJournal } from '../../store/turns.ts'
import { ownIdentity } from '../../sys/process-identity.ts'
import { refuseAgents, yesBeforehand } from '../approve.ts'
import type { ChangeView } from '../change-view.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { runEdit } from './call-edit.ts'
import { parseCall } from './call-input.ts'
import { runRead } from './call-read.ts'
import { agentZeroFreshness } from './call-reads.ts'
import { isUndo, replayJournal, stableJson } from './call-replay.ts'
import { type CallApproval, type CallEnd, kindOf, type RunningCall, refusalsOf } from './call-run.ts'
import { type SettledCall, settleCalls, whileRunning } from './call-settle.ts'
import { runUndo } from './call-undo.ts'

/** Calls that name no session share this one. */
export const unnamedSession = '(unnamed)'

export interface CallRequest {
  /** `{ "tool", "input" }` as it came: JSON, UTF-8. */
  readonly call: Uint8Array
  readonly dialect?: DialectName
  /** Default: one session that all calls without a name share. */
  readonly session?: string
  /** Calls of one turn are counted where the system limits them. Without it nothing is counted. */
  readonly turn?: string
  /** The strictest of this and the policy's `mode` counts. */
  readonly permissionMode?: PermissionMode
  readonly approval: CallApproval
  /** Asked right before an approved edit lands: why it may not any more, or null. It stays as it is then. */
  readonly heldBack?: () => string | null
}

/** What came of a call (DESIGN.md section 15). */
export interface CallAnswer {
  /** True exactly where the call completed. */
  readonly ok: boolean
  readonly result: CallResult
  /** The change that an edit was staged as. */
  readonly change: ChangeView | null
  /** Earlier calls of the session that had been killed and were decided now. */
  readonly recovered: readonly SettledCall[]
}

/**
 * Runs one tool call of an agent, reads included, through the gate, and answers in the form of the agent's own system.
 *
 * Every call and its outcome stand in the session's journal, on the disk, before the outcome is returned; what takes
 * effect is announced there before it does. A call of the session that was killed is decided first (see `settleCalls`).
 * An edit leaves what `propose` and `land` leave.
 *
 * @throws GalleyError `agent-may-not-approve`, for an approval in the user's name where an agent is at work; `wrong-state`,
 * for a journal that does not hold together; `too-large`, for one that has outgrown its limit.
 */
export async function callTool(world: World, request: CallRequest): Promise<CallAnswer> {
  if (request.approval.kind === 'yes') refuseAgents(world, yesBeforehand)
  const store = await world.store()
  await finishInterrupted(world)
  const journal = await openCallJournal(store, request.session ?? unnamedSession)
  await expectSound(world, journal)
  const recovered = await settleCalls(world, store, journal)
  const { result, change } = await runCall(world, store, journal, request)
  return { ok: result.kind === 'completed', result, change, recovered }
}

/** Replays the journal: by arguments alone, so that it loads whatever has become of the files. */
async function expectSound(world: World, journal: CallJournal): Promise<void> {
  const reader = await world.reader()
  const texts = new Map<string, string | null>()
  for (const { entry, start } of callsOf(journal.entries()).calls) {
    for (const kept of start === null ? [] : [entry.arguments, start.arguments]) {
      if ('blob' in kept && !texts.has(kept.blob)) texts.set(kept.blob, await loadText(reader, kept))
    }
  }
  const textOf = (kept: KeptText) => ('text' in kept ? kept.text : (texts.get(kept.blob) ?? null))
  const [fault] = replayJournal(journal.entries(), textOf).faults
  if (fault === undefined) return
  refuse(
    'wrong-state',
    `the journal of the session does not hold together: ${fault}`,
    {},
    'Begin a new session.',
  )
}

interface Ended {
  readonly result: CallResult
  readonly change: ChangeView | null
}

async function runCall(
  world: World,
  store: Store,
  journal: CallJournal,
  request: CallRequest,
): Promise<Ended> {
  const root = world.repository.workTree ?? world.repository.gitDir
  const parsed = parseCall(request.call)
  const call = parsed.kind === 'call' ? parsed.call : { tool: '', input: {} }
  const detection =
    parsed.kind === 'call' ? detect(call, request.dialect ?? 'auto', { item: 0, step: 0, root }) : null
  const dialect = detection?.kind === 'dialect' ? detection.dialect : null
  const entry = await callEntry(world, store, request, call, dialect)
  const stopped =
    parsed.kind === 'refused' ? parsed.refusal : detection?.kind === 'refused' ? detection.failure : null
  const end = async (ended: CallEnd): Promise<Ended> => {
    await journal.append(outcomeEntry(world, entry.call, ended))
    return { result: { kind: ended.kind, text: ended.text }, change: ended.change }
  }
  return whileRunning(entry.call, async () => {
    const blocked = dialect === null ? null : blockedBy(journal, request, dialect)
    await journal.append(entry)
    if (stopped !== null) return end({ kind: 'invalid_arguments', text: plainText(stopped), change: null })
    invariant(dialect, 'a call that is not stopped has its dialect')
    if (blocked !== null) return end({ kind: 'failed', text: blocked, change: null })
    const { approval, permissionMode = 'full', heldBack = () => null } = request
    const answers = answersOf(dialect.name)
    const run = {
      world,
      store,
      journal,
      id: entry.call,
      call,
      dialect,
      answers,
      permissionMode,
      approval,
      heldBack,
      root,
    }
    return end(await runKnown(run))
  })
}

/** A refusal before the call begins is its end; one after it has been made one where it happened. */
async function runKnown(run: RunningCall): Promise<CallEnd> {
  const { dialect, call, root } = run
  try {
    const asked = dialect.readCall?.(call, { item: 0, step: 0, root }) ?? null
    if (asked !== null) {
      if (!('kind' in asked)) throw new GalleyError(asked)
      return await runRead(run, asked)
    }
    return isUndo(dialect.name, call) ? await runUndo(run) : await runEdit(run)
  } catch (error) {
    if (!(error instanceof GalleyError) || hasBegun(run)) throw error
    const found = refusalsOf(error)
    const refusals = dialect.name === 'agent-zero' ? agentZeroFreshness(run, found) : found
    return { kind: kindOf(error), text: run.answers.refused(call, refusals), change: null }
  }
}

const hasBegun = ({ journal, id }: RunningCall): boolean =>
  callsOf(journal.entries()).calls.some(({ entry, start }) => entry.call === id && start !== null)

/** Why no call may begin now, or null: an unknown outcome that nobody has acknowledged, or a turn that is full. */
function blockedBy(journal: CallJournal, request: CallRequest, { profile }: Dialect): string | null {
  const { calls } = callsOf(journal.entries())
  const open = calls.find(({ outcome, isAcknowledged }) => outcome?.outcome === 'unknown' && !isAcknowledged)
  if (open !== undefined) {
    const session = request.session === undefined ? '' : ` --session ${quoteWord(request.session)}`
    return `Not executed: the call ${open.entry.call} (${open.entry.tool}) of this session was interrupted, and whether it took effect is unknown. ${open.outcome?.text ?? ''} Then acknowledge it: \`galley call --acknowledge ${open.entry.call}${session}\`.`
  }
  const { callsPerTurn } = profile
  if (callsPerTurn === undefined || request.turn === undefined) return null
  const made = calls.filter(({ entry }) => entry.turn === request.turn).length
  if (made < callsPerTurn) return null
  return `Not executed: the turn has had ${made} tool calls; ${callsPerTurn} are allowed. Begin another turn.`
}

const quoteWord = (word: string): string =>
  /^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", () => `'\\''`)}'`

async function callEntry(
  world: World,
  store: Store,
  request: CallRequest,
  call: ToolItem,
  dialect: Dialect | null,
): Promise<CallEntry> {
  return {
    kind: 'call',
    at: world.now(),
    call: newCallId(world),
    turn: request.turn ?? null,
    dialect: dialect?.name ?? null,
    tool: call.tool,
    arguments: await keepText(store, stableJson(call.input)),
    process: ownIdentity(),
  }
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'

const newCallId = (world: World): string =>
  `c${[...world.clock.random(9)].map((byte) => DIGITS[byte % DIGITS.length]).join('')}`

const outcomeEntry = (world: World, call: string, ended: CallEnd): OutcomeEntry => ({
  kind: 'outcome',
  at: world.now(),
  call,
  outcome: ended.kind,
  text: ended.keptText ?? ended.text,
  change: ended.change?.id ?? null,
})

/** The answer to a call of no known system. */
const plainText = (refusal: Refusal): string => `${refusal.message}\n${refusal.hint ?? hintFor(refusal.code)}`
