import { type Collected, collectGarbage } from '../../flow/gc/gc.ts'
import { visible } from '../../review/visible.ts'
import type { Verb } from '../verb.ts'

export const gc: Verb = {
  usage: 'gc [options]',
  summary: 'Bound what galley keeps. Nothing that waits for a decision is touched.',
  details:
    'Folds landed changes into one archive a month, where show, log, undo and verify find them as before, and packs the store anew. What goes:\nchanges rejected more than 30 days ago, scratch trees of decided changes (unless somebody worked in them), sessions unused for 30 days,\nbackups older than 90, and what killed processes left. Your own repository is not touched.',
  examples: [
    ['galley gc --dry-run', 'see what would go'],
    ['galley gc', 'do it'],
  ],
  options: (yargs) =>
    yargs
      .option('dry-run', {
        alias: 'n',
        type: 'boolean',
        default: false,
        describe: 'Only say what would be done',
      })
      .option('force', {
        type: 'boolean',
        default: false,
        describe: 'Also trees of decided changes in which somebody worked; that work is lost',
      }),
  run: async (context, args) => {
    const request = { dryRun: args['dry-run'] === true, force: args['force'] === true }
    const collected = await collectGarbage(await context.world(), request)
    return { value: { ...collected }, text: collectedText(collected) }
  },
}

function collectedText(collected: Collected): string {
  const { dryRun, archived, expired, removed, refs, salvaged, kept, lost, before, after } = collected
  const [would, done] = dryRun ? ['would ', ''] : ['', 'd']
  const lines = [
    ...(archived.length > 0
      ? [`${would}archive${done} ${archived.length} landed ${archived.length === 1 ? 'change' : 'changes'}`]
      : []),
    ...expired.map((id) => `${would}remove${done} ${id}, rejected long ago`),
    ...removed.map((what) => `${would}remove${done} ${visible(what)}`),
    ...(refs.length > 0 ? [`${would}remove${done} ${refs.length} keys, backups and leftovers`] : []),
    ...salvaged.flatMap(salvagedLines),
    ...lost.map((what) => visible(what)),
    ...kept.map(({ what, reason }) => `kept ${visible(what)}: ${visible(reason)}`),
    dryRun
      ? `the store has ${before.refs} refs and ${kilobytes(before.bytes)}`
      : `refs: ${before.refs} → ${after.refs}, size: ${kilobytes(before.bytes)} → ${kilobytes(after.bytes)}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function salvagedLines({
  run,
  ref,
  others,
  folder,
  remarks,
}: Collected['salvaged'][number]): readonly string[] {
  const places = [ref, ...others, folder].filter((place) => place !== null)
  if (places.length === 0) return [`the run ${run} was cut off and had changed nothing`]
  return [
    `the run ${run} was cut off; its work is ${places.map(visible).join(' and ')}`,
    ...remarks.map((remark) => `  ${visible(remark)}`),
  ]
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`
