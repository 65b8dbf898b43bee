import { candidates } from '../complete.ts'
import { completionScripts, type Shell } from '../completion-scripts.ts'
import { inTurn } from '../directories.ts'
import { usageError } from '../errors.ts'
import type { Answer, CliContext, Verb } from '../verb.ts'

export const completion: Verb = {
  usage: 'completion <bash|zsh|fish> [words…] [options]',
  summary: 'Print the script by which a shell completes verbs, options, changes and sessions.',
  details:
    'Prints the script by which a shell completes verbs, options, ids of changes with their titles, and sessions; files are left to the shell.\nWith --next, as the script calls it: what could follow the words after `--`, a line each, with its meaning behind a tab.',
  examples: [
    ['source <(galley completion bash)', 'in ~/.bashrc; `git galley` completes as well'],
    ['source <(galley completion zsh)', 'in ~/.zshrc, after compinit'],
    ['galley completion fish > ~/.config/fish/completions/galley.fish', 'once'],
  ],
  options: (yargs) =>
    yargs.option('next', {
      type: 'boolean',
      default: false,
      describe: 'Print what could follow the words after `--`',
    }),
  run: async (context, args) => {
    const [shell, ...words] = (args['_'] as readonly unknown[]).map(String)
    if (shell === undefined || !Object.hasOwn(completionScripts, shell))
      throw usageError('which shell? bash, zsh or fish')
    if (args['next'] === true) return nextAnswer(context, words)
    const script = completionScripts[shell as Shell]
    return { value: { script }, text: script }
  },
}

async function nextAnswer(context: CliContext, words: readonly string[]): Promise<Answer> {
  const open = (directories: readonly string[]) =>
    context.open(directories.reduce<string>((at, next) => inTurn(at, next) ?? at, context.cwd))
  const found = await candidates(words, { verbs: context.verbs, open })
  const text = found.map(({ word, meaning }) => `${word}\t${meaning}\n`).join('')
  return { value: { candidates: found }, text }
}
