import { resolve } from 'node:path'
import { runHook } from '../../hook/run-hook.ts'
import { GalleyError } from '../../model/error.ts'
import type { Verb } from '../verb.ts'

export const hook: Verb = {
  usage: 'hook <name> [first] [second] [third] [options]',
  summary: "Answer one of git's hooks. The scripts that `galley hooks install` puts in place call this.",
  examples: [['galley hook pre-commit', 'is what is staged approved?']],
  isPlain: true,
  options: (yargs) =>
    yargs.option('allowed-signers', {
      type: 'string',
      describe: "Of a server's hooks: who may approve by signature, in place of the policy's list",
    }),
  run: async (context, args) => {
    const [name = '', ...rest] = args['_'] as readonly string[]
    const world = await context.world().catch(nothingToGuard)
    if (world === null) return { value: { hook: name }, text: '' }
    const signers = args['allowed-signers']
    const given = typeof signers === 'string' ? { allowedSigners: resolve(context.cwd, signers) } : {}
    const remark = await runHook(world, {
      ...given,
      name,
      args: rest,
      readStdin: () => context.readInput('-'),
      readFile: (path) => context.readInput(path),
    })
    context.terminal.note(remark)
    return { value: { hook: name }, text: '' }
  },
}

/** In a scratch tree of galley's own no commit is made; the team's hooks run there, and ours may be among them. */
function nothingToGuard(error: unknown): null {
  const isScratch =
    error instanceof GalleyError && error.code === 'unsupported-repository' && 'owner' in error.data
  if (isScratch) return null
  throw error
}
