import { listQueue } from '../../flow/queue/queue.ts'
import { type QueueStep, runQueue } from '../../flow/queue/run-queue.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { queueOptions, queueRequest } from '../queue-options.ts'
import { shortId, shortRef } from '../text.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const queue: Verb = {
  usage: 'queue [run] [options]',
  summary: 'List what waits to land on a branch of a remote, or land it.',
  details:
    'Without `run`: what waits, first in line first, and who is landing what. With `run`: lands it, one after another, each by the rules of\nevery landing, and pushes branch, approvals, log and queue in one transaction. What cannot land is dropped with the reason, and the\nqueue goes on. Several may run at once, on any machine: each claims what it lands. Nothing of your repository moves.',
  examples: [
    ['galley queue', 'what waits'],
    ['galley queue run', 'land it'],
    ['galley queue run --once --branch release', 'one change, for another branch'],
  ],
  options: (yargs) =>
    queueOptions(yargs).option('once', { type: 'boolean', default: false, describe: 'End after one change' }),
  run: async (context, args) => {
    const [word] = args['_'] as readonly string[]
    if (word !== undefined && word !== 'run')
      throw usageError(`queue ${word}? Only \`galley queue run\` does something`)
    if (word === 'run') return landing(context, args)
    if (args['once'] === true) throw usageError('--once goes with `galley queue run`')
    const view = await listQueue(await context.world(), queueRequest(args))
    const lines = view.entries.map(({ id, by, at, claim }, index) => {
      const now = context.clock.now()
      const held = claim !== null && Date.parse(claim.until) > now ? `  landing: ${visible(claim.by)}` : ''
      return `${index + 1}. ${id}  ${at.slice(0, 16).replace('T', ' ')}  ${visible(by)}${held}\n`
    })
    const head = `${shortRef(view.branch)} of ${visible(view.remote)}: ${view.entries.length} waiting, ${view.landed} landed, ${view.dropped} dropped\n`
    return { value: { ...view }, text: `${head}${lines.join('')}` }
  },
}

async function landing(context: CliContext, args: Arguments): Promise<Answer> {
  const onStep = (step: QueueStep) => context.terminal.note(`galley: ${stepText(step)}\n`)
  const done = await runQueue(await context.world(), {
    ...queueRequest(args),
    once: args['once'] === true,
    onStep,
  })
  const landed = done.steps.filter(({ kind }) => kind === 'landed').length
  const dropped = done.steps.length - landed
  const text = `${shortRef(done.branch)} of ${visible(done.remote)}: ${landed} landed, ${dropped} dropped, ${done.waiting} waiting\n`
  return { value: { ...done }, text, exitCode: dropped === 0 ? 0 : 1 }
}

const stepText = (step: QueueStep): string =>
  step.kind === 'landed'
    ? `${step.id} landed as ${shortId(step.commit)}`
    : `${step.id} ${step.kind === 'again' ? 'is tried again' : 'dropped'}: ${visible(step.reason)}`
