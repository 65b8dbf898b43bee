import { resolve } from 'node:path'
import { execPath } from 'node:process'
import { shimsOf } from '../../flow/hooks/hook-shims.ts'
import { type HooksReport, hooksStatus, installHooks, uninstallHooks } from '../../flow/hooks/hooks.ts'
import { paintFor } from '../../review/colour.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import type { CliContext, Verb } from '../verb.ts'

export const hooks: Verb = {
  usage: 'hooks <install|uninstall|status> [options]',
  summary: "Put galley's hooks in place, take them away, or look whether git runs them.",
  details:
    'Puts hooks in place that let a commit, merge or push through when galley finds it approved. They look at guarded branches, and at whatever\nan agent does; people on other branches are left alone. Whoever owns the hooks here keeps theirs: yours run first. In a bare repository\nit is pre-receive, which a client cannot go past; elsewhere the hooks are a seat belt, and `galley verify` on a server is the lock.',
  examples: [
    ['galley hooks install', 'pre-commit, pre-merge-commit, commit-msg, pre-push'],
    ['galley hooks install --reference-transaction', 'also what goes past them: --no-verify, update-ref'],
    ['galley hooks uninstall', 'everything as it was'],
  ],
  options: (yargs) =>
    yargs
      .option('reference-transaction', {
        type: 'boolean',
        default: false,
        describe: 'Also the hook that sees every move of a branch',
      })
      .option('update', { type: 'boolean', default: false, describe: 'Also the update hook of a server' })
      .option('allowed-signers', {
        type: 'string',
        describe: "On a server: who may approve by signature, a file, in place of the policy's list",
      })
      .option('config', {
        type: 'boolean',
        default: false,
        describe: 'Allow writing .git/config, where that is the way',
      }),
  run: async (context, args) => {
    const [word] = args['_'] as readonly string[]
    const world = await context.world()
    const shims = await shimsOf(context.program, execPath)
    if (word === 'uninstall') {
      const gone = await uninstallHooks(world)
      const lines = gone.removed.map((path) => `removed ${visible(path)}\n`)
      const notes = gone.remarks.map((remark) => `note: ${visible(remark)}\n`)
      const text = [...lines, ...notes].join('')
      return { value: { ...gone }, text: text === '' ? 'There were none.\n' : text }
    }
    if (word !== 'install' && word !== 'status') throw usageError('hooks: install, uninstall or status')
    const report =
      word === 'status'
        ? await hooksStatus(world, shims)
        : await installHooks(world, {
            shims,
            referenceTransaction: args['reference-transaction'] === true,
            update: args['update'] === true,
            config: args['config'] === true,
            ...signersOf(context, args['allowed-signers']),
          })
    return { value: { ...report }, text: textOf(report, context.terminal.useColour) }
  },
}

/** An empty word says that the policy's list counts again. */
const signersOf = ({ cwd }: CliContext, given: unknown) =>
  typeof given === 'string' ? { allowedSigners: given === '' ? '' : resolve(cwd, given) } : {}

const PLAIN: ReadonlySet<string> = new Set(['put in place', 'in place', 'not installed'])

function textOf(report: HooksReport, isColoured: boolean): string {
  const paint = paintFor(isColoured)
  const rows = report.hooks.map(({ name, path, state, text }) => {
    const colour = state === 'installed' ? paint.good : paint.warning
    const [first = '', ...more] = text.split('\n')
    const rest = more.map((line) => `    ${visible(line)}\n`).join('')
    // The state says it all.
    const said = PLAIN.has(text) ? '' : `    ${visible(first)}\n`
    return `${colour(state.padEnd(9))} ${name}  ${visible(path)}\n${said}${rest}`
  })
  return rows.join('')
}
