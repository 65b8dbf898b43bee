import { inputRequired, inputResponse, type ServerContext } from '@modelcontextprotocol/server'
import type { RoundState } from './tool.ts'

/** The key of the one question of a round. */
export const QUESTION = 'approval'

/** The form that a person sees before their client. */
export const approvalForm = (message: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: {
          type: 'string',
          title: 'Decision',
          description: 'approve lets exactly these bytes land; reject sends your comment to the agent.',
          enum: ['approve', 'reject'],
        },
        comment: {
          type: 'string',
          title: 'Comment',
          description: 'For the agent, when you reject.',
          maxLength: COMMENT_MAX_CHARACTERS,
        },
      },
      required: ['decision'],
    },
  })

const COMMENT_MAX_CHARACTERS = 4000

/** What a person was asked in the round before, and what they said. */
export interface Answered {
  readonly asked: RoundState
  readonly said: 'approve' | 'reject' | 'nothing'
  readonly comment: string
}

/** What the client brought back; null in the first round. Anything but a clear word is `nothing`. */
export function answerIn(context: ServerContext): Answered | null {
  const asked = context.mcpReq.requestState<RoundState>()
  if (asked === undefined) return null
  const view = inputResponse(context.mcpReq.inputResponses, QUESTION)
  const content = view.kind === 'elicit' && view.action === 'accept' ? (view.content ?? {}) : {}
  const { decision, comment } = content
  const said = decision === 'approve' || decision === 'reject' ? decision : 'nothing'
  return { asked, said, comment: typeof comment === 'string' ? comment.slice(0, COMMENT_MAX_CHARACTERS) : '' }
}
