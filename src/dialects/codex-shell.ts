/** The patch inside a shell call, and the directory that the script changes to before it. */
export interface ShellPatch {
  readonly patch: string
  /** null = the script does not change directory. */
  readonly directory: string | null
}

const COMMANDS: ReadonlySet<string> = new Set(['apply_patch', 'applypatch'])
const POSIX_SHELLS: ReadonlySet<string> = new Set(['bash', 'zsh', 'sh'])
const POWER_SHELLS: ReadonlySet<string> = new Set(['pwsh', 'powershell'])

/** Everything that a shell would do something with is absent: no `$`, quote, glob, `~`, `;`, `&`, `|`, `<`, `>`, `(`. */
const PLAIN_WORD = /[A-Za-z0-9_./@%+=:,-]+/y
const DELIMITER_WORD = /[A-Za-z0-9_]+/y
const BLANKS = /[ \t]*/y
const SPACE = /[ \t\r\n]*/y

/**
 * Finds the patch of a `command` argument list as Codex does: `["apply_patch", patch]`, or a shell with one script. A patch alone, which
 * Codex sends back with the advice to name `apply_patch`, is taken: no shell could do anything else with it. Nothing is ever run.
 * Null = not an edit.
 *
 * @see codex-rs/apply-patch/src/invocation.rs, `maybe_parse_apply_patch`.
 */
export function patchOfArguments(argv: readonly string[]): ShellPatch | null {
  const [command, second, third] = argv
  if (argv.length === 2 && command !== undefined && second !== undefined && COMMANDS.has(command)) {
    return { patch: second, directory: null }
  }
  if (argv.length === 1) return bareEnvelope(command ?? '', null)
  if (command === undefined || second === undefined) return null
  const shell = shellName(command)
  const flag = second.toLowerCase()
  if (argv.length === 4 && POWER_SHELLS.has(shell) && flag === '-noprofile') {
    return third?.toLowerCase() === '-command' ? patchOfScript(argv[3] ?? '') : null
  }
  if (argv.length !== 3 || third === undefined) return null
  const takesScript =
    (POSIX_SHELLS.has(shell) && (second === '-lc' || second === '-c')) ||
    (POWER_SHELLS.has(shell) && flag === '-command') ||
    (shell === 'cmd' && flag === '/c')
  return takesScript ? patchOfScript(third) : null
}

/** `/usr/bin/Bash.exe` → `bash`. */
function shellName(command: string): string {
  const name = command.slice(Math.max(command.lastIndexOf('/'), command.lastIndexOf('\\')) + 1).toLowerCase()
  return name.endsWith('.exe') ? name.slice(0, -4) : name
}

/**
 * Finds the patch of a script that is nothing but `apply_patch <<'X'` … `X`, or the patch itself, at most after `cd directory &&`. A
 * script that does anything besides is not an edit: null.
 */
export function patchOfScript(script: string): ShellPatch | null {
  const scanner = new ScriptScanner(script)
  scanner.skip(SPACE)
  const directory = scanner.changeOfDirectory()
  if (directory === undefined) return null
  const bare = bareEnvelope(scanner.rest(), directory)
  if (bare !== null || !scanner.command()) return bare
  const patch = scanner.heredoc()
  return patch === null ? null : { patch, directory }
}

/** A patch with nothing before and after it. */
function bareEnvelope(text: string, directory: string | null): ShellPatch | null {
  const patch = text.trim()
  return /^\*\*\* Begin Patch[ \t]*\r?\n/.test(patch) && /\n\*\*\* End Patch$/.test(patch)
    ? { patch, directory }
    : null
}

class ScriptScanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  /** What has not been read yet. */
  rest(): string {
    return this.#text.slice(this.#at)
  }

  /** The directory of a leading `cd directory &&`; null = there is none; undefined = it is of another form. */
  changeOfDirectory(): string | null | undefined {
    const start = this.#at
    if (this.skip(PLAIN_WORD) !== 'cd') {
      this.#at = start
      return null
    }
    if (this.skip(BLANKS) === '') return undefined
    const directory = this.#word()
    this.skip(BLANKS)
    if (directory === null || directory.startsWith('-') || !this.#take('&&')) return undefined
    this.skip(SPACE)
    return directory
  }

  command(): boolean {
    return COMMANDS.has(this.skip(PLAIN_WORD))
  }

  /** The body of a heredoc that the rest of the script consists of. */
  heredoc(): string | null {
    this.skip(BLANKS)
    if (!this.#take('<<')) return null
    this.skip(BLANKS)
    const delimiter = this.#word(DELIMITER_WORD)
    this.skip(BLANKS)
    if (delimiter === null || !(this.#take('\n') || this.#take('\r\n'))) return null
    const end = this.#lineThatIs(delimiter)
    if (end === null || this.#text.slice(end.after).trim() !== '') return null
    return this.#text.slice(this.#at, end.start)
  }

  #take(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  /** A word, quoted or plain, in which a shell would replace nothing. */
  #word(plain: RegExp = PLAIN_WORD): string | null {
    const quote = this.#text[this.#at]
    if (quote !== "'" && quote !== '"') return this.skip(plain) || null
    const end = this.#text.indexOf(quote, this.#at + 1)
    if (end === -1) return null
    const word = this.#text.slice(this.#at + 1, end)
    this.#at = end + 1
    return word === '' || /[$`\\\n]/.test(word) ? null : word
  }

  #lineThatIs(delimiter: string): { readonly start: number; readonly after: number } | null {
    for (let start = this.#at; start <= this.#text.length; ) {
      const newline = this.#text.indexOf('\n', start)
      const after = newline === -1 ? this.#text.length : newline
      const line = this.#text.slice(start, after)
      if (line === delimiter || line === `${delimiter}\r`) return { start, after }
      start = after + 1
    }
    return null
  }
}
