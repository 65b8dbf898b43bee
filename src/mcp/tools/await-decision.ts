import * as z from 'zod'
import { showChange } from '../../flow/show.ts'
import { type Awaited, awaitDecision as awaitFlow } from '../../flow/wait.ts'
import { changeDetail, changeLine, changeValue, nextFor } from '../change-words.ts'
import { changeId, repository } from '../form.ts'
import { type ToolCall, tool } from '../tool.ts'

/** Below the minute after which most clients give a call up. */
const DEFAULT_SECONDS = 45
const MOST_SECONDS = 1800
const PROGRESS_MS = 10_000

export const awaitDecision = tool({
  name: 'await_decision',
  title: 'Wait for a decision',
  description: `Waits until a person approves, rejects or comments on a change, ${DEFAULT_SECONDS} seconds unless told otherwise. It holds up no other call. Where the time is up first, call it again, or go on with other work.`,
  input: z.strictObject({
    id: changeId,
    timeout_seconds: z.number().min(0).max(MOST_SECONDS).optional(),
    comments_seen: z
      .int()
      .min(0)
      .optional()
      .describe('How many comments you know of: one more ends the wait. Default: those that there are now.'),
    repository,
  }),
  output: {
    outcome: { type: 'string', enum: ['approved', 'landed', 'rejected', 'stale', 'commented', 'undecided'] },
    change: { type: 'object' },
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: (call) =>
    call.use(async (world) => {
      const { input, context } = call
      const { change: now } = await showChange(world, input.id)
      const awaited = await awaitFlow(world, {
        id: now.id,
        timeoutMs: (input.timeout_seconds ?? DEFAULT_SECONDS) * 1000,
        signal: context.mcpReq.signal,
        commentsSeen: input.comments_seen ?? now.comments.length,
        onWaiting: signsOfLife(call, now.id),
      })
      return {
        message: `${words[awaited.kind]} ${changeLine(awaited.change)}`,
        next:
          awaited.kind === 'undecided'
            ? `Call await_decision again, or go on with other work.`
            : awaited.kind === 'commented'
              ? `Answer with revise_change (id ${JSON.stringify(now.id)}) where something is to change, then call await_decision again.`
              : nextFor(awaited.change),
        detail: changeDetail(awaited.change),
        value: { outcome: awaited.kind, change: changeValue(awaited.change) },
      }
    }),
})

const words: Readonly<Record<Awaited['kind'], string>> = {
  approved: 'Approved.',
  landed: 'Landed.',
  rejected: 'Rejected.',
  stale: 'Stale.',
  commented: 'A reviewer commented.',
  undecided: 'The time is up, and nobody has decided yet.',
}

/** Tells the client now and then that the call is alive, where it asked to be told. */
function signsOfLife({ context }: ToolCall<unknown>, id: string): (waitedMs: number) => void {
  const progressToken = context.mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let toldMs = Number.NEGATIVE_INFINITY
  return (waitedMs) => {
    if (waitedMs - toldMs < PROGRESS_MS) return
    toldMs = waitedMs
    const progress = Math.round(waitedMs / 1000)
    const message = `${id} waits for a decision`
    // A client that is gone is found out by the call's own signal.
    void context.mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
      .catch(() => undefined)
  }
}
