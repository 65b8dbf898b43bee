import type { ChangeView } from '../../flow/change-view.ts'
import { readPairs, showChange } from '../../flow/show.ts'
import type { ChangeEvent } from '../../model/change.ts'
import { assertNever } from '../../model/error.ts'
import { paintFor } from '../../review/colour.ts'
import { commentText, oneLine } from '../../review/comment-text.ts'
import { visible } from '../../review/visible.ts'
import { changeOptions, namedChange } from '../one-change.ts'
import { changeLine, diffText, noticesOf, standingOf } from '../text.ts'
import type { Verb } from '../verb.ts'

export const show: Verb = {
  usage: 'show <id> [options]',
  summary: 'Show a change: diff, checks with their output, approvals, comments and log.',
  examples: [
    ['galley show g7k2m9', 'everything about a change'],
    ['galley show --last --json', 'the newest, for a program'],
  ],
  isPlain: true,
  options: changeOptions,
  run: async (context, args) => {
    const world = await context.world()
    const shown = await showChange(world, await namedChange(world, args))
    if (context.json) return { value: { ...shown }, text: '' }
    const { change, log, outputs } = shown
    const paint = paintFor(context.terminal.useColour)
    const body = change.body === '' ? '' : `\n${visible(change.body).trimEnd()}\n`
    const failed = outputs
      .filter((o) => o.check.outcome !== 'passed')
      .map((o) => `\noutput of ${visible(o.check.name)}:\n${visibleLines(o.output)}`)
    const history = log.map(eventLine).join('')
    const head = `${changeLine(change, context.terminal)}digest ${change.digest}\n${noticesOf(change, context.terminal)}${standingOf(change)}${body}${messagesOf(change)}`
    const comments = change.comments.map((one) => `\n${commentText(one)}\n`)
    const diff = diffText(await readPairs(world, change.id), context.terminal)
    return {
      value: {},
      text: `${head}${failed.join('')}${comments.join('')}\n${paint.faint('log')}\n${history}\n${diff}`,
      paged: true,
    }
  },
}

/** What a run's own commits said, where the change does not say it in the same words. */
function messagesOf({ messages, title, body }: Pick<ChangeView, 'messages' | 'title' | 'body'>): string {
  const [first = ''] = messages
  const isSame = messages.length <= 1 && first === (body === '' ? title : `${title}\n\n${body}`)
  if (messages.length === 0 || isSame) return ''
  return `\nmessages of the commits that it is made of:\n${messages.map(visibleLines).join('\n')}`
}

/** One line of the log: when, what, by whom, and why. */
function eventLine(event: ChangeEvent): string {
  const at = `${event.at.slice(0, 16).replace('T', () => ' ')}Z`
  return `  ${at}  ${whatHappened(event)}  ${visible(event.by)}\n`
}

function whatHappened(event: ChangeEvent): string {
  switch (event.kind) {
    case 'staged':
    case 'restaged':
      return `staged as revision ${event.revision.number} (${visible(event.reason)})`
    case 'checked':
      return `checked: ${event.checks.map((c) => `${visible(c.name)} ${c.outcome}`).join(', ')}`
    case 'commented':
      return `${event.rejects === true ? 'rejected a hunk' : event.edits === true ? 'edited a hunk' : 'commented'}${event.path === undefined ? '' : ` on ${oneLine(event.path)}`}${event.byAgent === true ? ' (an agent)' : ''}:`
    case 'approved':
      return event.via === 'rule'
        ? `approved by the rule ${visible(event.rule?.text ?? '')}, read by`
        : `approved (via ${event.via}) by`
    case 'rejected':
      return `rejected${event.reason === '' ? '' : `: ${oneLine(event.reason)}`}`
    case 'landed':
      return landedText(event)
    case 'undone':
      return `${event.isPart === true ? 'undone in part' : 'undone'} by ${event.undoneBy}`
    case 'stale':
      return `stale: ${visible(event.reason)}`
    case 'proposed':
      return 'proposed'
    default:
      return assertNever(event)
  }
}

function landedText({ landing, again }: Extract<ChangeEvent, { kind: 'landed' }>): string {
  if (again === undefined) return `landed as ${landing.after.slice(0, 7)}`
  const part = again.isPart === true ? ' its part of it' : ''
  return `brought back${part} by ${again.by}, which undid ${again.undo}`
}

const visibleLines = (text: string): string =>
  `${text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${visible(line)}`)
    .join('\n')}\n`
