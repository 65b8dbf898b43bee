import * as z from 'zod'
import { decideByClient } from '../../flow/client-approval.ts'
import { land } from '../../flow/land/land.ts'
import { showChange } from '../../flow/show.ts'
import type { World } from '../../flow/world.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { visible } from '../../review/visible.ts'
import { type Answered, answerIn } from '../answered.ts'
import { askAbout } from '../ask-about.ts'
import { changeDetail, changeLine, changeValue, nextFor } from '../change-words.ts'
import { changeId, repository } from '../form.ts'
import { type ToolAnswer, type ToolOutcome, tool } from '../tool.ts'

export const landChange = tool({
  name: 'land_change',
  title: 'Land a change',
  description:
    'Lands an approved change: the branch is fast-forwarded, and its files and index entries follow. Where nobody has approved it yet, the person is asked through your client if it can ask; else it is refused, and a person approves it in a terminal.',
  input: z.strictObject({ id: changeId, repository }),
  output: {
    change: { type: 'object' },
    landed: { type: 'object', description: 'Branch, and the commits before and after.' },
    remarks: { type: 'array' },
  },
  // Only approved bytes land, and a landing is taken back by undo_change. Some clients never call what they hold for destructive.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run: ({ input, caller, context, use }) =>
    use((world) => {
      const answered = answerIn(context)
      return answered === null
        ? landOrAsk(world, input.id, caller.canAskByForm)
        : landAnswered(world, input.id, answered)
    }),
})

async function landOrAsk(world: World, id: string, canAsk: boolean): Promise<ToolOutcome> {
  try {
    return await landNow(world, id)
  } catch (error) {
    if (!(error instanceof GalleyError) || error.code !== 'not-approved') throw error
    if (canAsk) return askAbout(world, id)
    const { code, message, data } = error
    const hint = `A person approves it in a terminal: \`galley approve ${id}\`. Wait for that with await_decision, then call land_change again.`
    throw new GalleyError({ code, message, data, hint }, { cause: error })
  }
}

async function landNow(world: World, id: string): Promise<ToolAnswer> {
  const { change, landed, remarks } = await land(world, { id })
  const notes = remarks.map((remark) => `\nnote: ${visible(remark)}`).join('')
  return {
    message: `Landed. ${changeLine(change)}, ${landed.before ?? '(no commit)'}..${landed.after}`,
    next: nextFor(change),
    detail: `${changeDetail(change)}${notes}`,
    value: { change: changeValue(change), landed, remarks },
  }
}

/** Only a clear yes about these very bytes lands them. */
async function landAnswered(
  world: World,
  id: string,
  { asked, said, comment }: Answered,
): Promise<ToolAnswer> {
  const { change } = await showChange(world, id)
  if (change.id !== asked.id)
    refuse(
      'invalid-arguments',
      `land_change: the person was asked about ${asked.id}, not about ${change.id}`,
      {},
    )
  if (said === 'nothing')
    refuse(
      'not-approved',
      `${change.id} was not approved in the client; nothing has landed`,
      { id: change.id },
      `It waits still. Ask what should be different, or let a person approve it in a terminal: \`galley approve ${change.id}\`.`,
    )
  if (said === 'reject') {
    const { change: rejected } = await decideByClient(world, asked, { kind: 'reject', comment })
    return { isRefused: true, ...rejectedAnswer(rejected) }
  }
  await decideByClient(world, asked, { kind: 'approve' })
  return landNow(world, change.id)
}

const rejectedAnswer = (change: Parameters<typeof changeLine>[0]): ToolAnswer => ({
  message: `Rejected by the person who was asked. ${changeLine(change)}`,
  next: nextFor(change),
  detail: changeDetail(change),
  value: { change: changeValue(change) },
})
