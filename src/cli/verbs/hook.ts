import { runHook } from '../../hook/run-hook.ts'
import { GalleyError } from '../../model/error.ts'
import type { Verb } from '../verb.ts'

export const hook: Verb = {
  usage: 'hook <name> [first] [second] [third]',
  summary: "Answer one of git's hooks. The scripts that `galley hooks install` puts in place call this.",
  examples: [['galley hook pre-commit', 'is what is staged approved?']],
  isPlain: true,
  options: (yargs) => yargs,
  run: async (context, args) => {
    const [name = '', ...rest] = args['_'] as readonly string[]
    const world = await context.world().catch(nothingToGuard)
    if (world === null) return { value: { hook: name }, text: '' }
    const remark = await runHook(world, {
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
