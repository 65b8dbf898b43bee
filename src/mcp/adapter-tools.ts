import * as z from 'zod'
import { callTool } from '../flow/call/call.ts'
import type { CallApproval } from '../flow/call/call-run.ts'
import { decideByClient } from '../flow/client-approval.ts'
import type { World } from '../flow/world.ts'
import type { DialectName } from '../model/batch.ts'
import { type AdapterForm, adapterForms } from './adapter-forms.ts'
import { type Answered, answerIn } from './answered.ts'
import { askAbout } from './ask-about.ts'
import { changeValue } from './change-words.ts'
import { type Tool, type ToolCall, type ToolOutcome, tool } from './tool.ts'

/** The tools of another system, each call through the gate and answered in that system's own words. */
export const adapterTools = (adapter: DialectName): readonly Tool[] =>
  (adapterForms[adapter] ?? []).map((form) => adapterTool(adapter, form))

const adapterTool = (
  adapter: DialectName,
  { name, description, properties, required, isRead }: AdapterForm,
) =>
  tool({
    name,
    title: name,
    description,
    input: z.looseObject({}),
    schema: { type: 'object', properties, required },
    output: {
      kind: { type: 'string', enum: ['completed', 'denied', 'failed', 'invalid_arguments', 'unknown'] },
      change: { type: 'object', description: 'The change that an edit was staged as.' },
    },
    annotations: {
      readOnlyHint: isRead === true,
      destructiveHint: false,
      idempotentHint: isRead === true,
      openWorldHint: false,
    },
    run: (call) => call.use((world) => runCall(world, call, { adapter, name })),
  })

interface Native {
  readonly adapter: DialectName
  readonly name: string
}

async function runCall(
  world: World,
  { input, caller, context, host }: ToolCall<Readonly<Record<string, unknown>>>,
  { adapter, name }: Native,
): Promise<ToolOutcome> {
  const answered = answerIn(context)
  const declined = answered === null ? null : await settle(world, answered)
  if (declined !== null) return declined
  const { ok, result, change } = await callTool(world, {
    call: Buffer.from(JSON.stringify({ tool: name, input }), 'utf8'),
    dialect: adapter,
    session: caller.session ?? `${caller.name} ${Buffer.from(host.clock.random(6)).toString('hex')}`,
    approval: approvalFor(adapter),
  })
  if (!ok && answered === null && change?.state === 'staged' && caller.canAskByForm)
    return askAbout(world, change.id)
  return {
    isRefused: !ok,
    message: result.text,
    next: '',
    value: { kind: result.kind, ...(change === null ? {} : { change: changeValue(change) }) },
  }
}

const WAIT_MS = 45_000

/** Where an approval holds for one call alone, the call waits for it; elsewhere the same call finds it later. */
const approvalFor = (adapter: DialectName): CallApproval =>
  adapter === 'mino' ? { kind: 'wait', timeoutMs: WAIT_MS } : { kind: 'none' }

/** null = approved: the call goes on. */
async function settle(world: World, { asked, said, comment }: Answered): Promise<ToolOutcome | null> {
  if (said === 'approve') {
    await decideByClient(world, asked, { kind: 'approve' })
    return null
  }
  if (said === 'reject') await decideByClient(world, asked, { kind: 'reject', comment })
  const why =
    said === 'reject' ? `rejected by the person who was asked: ${comment}` : 'not approved in the client'
  return {
    isRefused: true,
    message: `The operation was not approved; nothing was written. ${asked.id} was ${why}`,
    next: '',
    value: { kind: 'denied' },
  }
}
