import { version } from '../model/version.ts'
import { optionsOf } from './describe-verb.ts'
import type { Verb } from './verb.ts'
import { verbs } from './verbs.ts'

/** The manual page, in roff: from the same words as `--help`. */
export async function manualPage(): Promise<string> {
  const loaded = await Promise.all(
    Object.entries(verbs).map(async ([name, { load }]) => ({ name, verb: await load() })),
  )
  return [
    `.TH GALLEY 1 "" "galley ${version}" "galley"`,
    '.SH NAME\ngalley, git\\-galley \\- the gate between coding agents and a Git repository',
    '.SH SYNOPSIS\n.B galley\n[\\fB\\-C\\fR \\fIdirectory\\fR] [\\fB\\-\\-json\\fR] \\fIverb\\fR [\\fIarguments\\fR]',
    `.SH DESCRIPTION\n${text('An agent proposes a batch of edits, checks run on it, a person approves exactly the bytes they saw, and it lands by fast-forward. Undo is a git revert. Until a landing, nothing of the repository changes but its folder galley.')}`,
    `.SH VERBS\n${loaded.map(({ verb }) => ofVerb(verb)).join('\n')}`,
    `.SH EXIT STATUS\n${[
      ['0', 'done'],
      ['1', 'refused; nothing was changed'],
      ['2', 'a wrong command line'],
      ['255', "a fault of galley's own"],
    ]
      .map(([code, meaning]) => `.TP\n.B ${code}\n${text(meaning ?? '')}`)
      .join('\n')}`,
    '.SH FILES\n.TP\n.I .galley.json\nThe policy, in the repository.\n.TP\n.I galley\nThe folder in the git directory that holds changes, approvals and logs.',
    '.SH SEE ALSO\n.BR git (1)\n',
  ].join('\n')
}

function ofVerb(verb: Verb): string {
  const options = optionsOf(verb).filter(({ name }) => name !== 'json' && name !== 'help')
  return [
    `.SS galley ${text(verb.usage)}`,
    text(verb.details ?? verb.summary),
    ...options.map((option) => {
      const value = option.takesValue ? ` \\fI${text(option.choices.join('|') || 'value')}\\fR` : ''
      const names = [...(option.alias === null ? [] : [`-${option.alias}`]), `--${option.name}`]
      return `.TP\n${names.map((name) => `\\fB${text(name)}\\fR`).join(', ')}${value}\n${text(option.describe)}`
    }),
    ...verb.examples.map(
      ([command, meaning]) => `.PP\n.nf\n.RS 4\n${text(command)}\n.RE\n.fi\n.RS 8\n${text(meaning)}\n.RE`,
    ),
  ].join('\n')
}

/** Plain words for roff: nothing in them is a command or an escape, and a hyphen stays one. */
const text = (words: string): string =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .split('\n')
    .map((line) => (/^[.']/.test(line) ? `\\&${line}` : line))
    .join('\n')
