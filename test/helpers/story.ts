import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliHere } from './galley.ts'
import { makeRepo, type TestRepo } from './repo.ts'
import { projectRoot } from './source-tree.ts'

/**
 * A story: one page of text that shows what the command does in a repository of its own.
 *
 * ```
 * What it proves, in one line.
 *
 * -- a.txt --
 * one
 *
 * $ galley propose ../batch.json
 * > <id> staged *
 * $ galley land <id>
 * ! not-approved
 * ```
 * - `-- path --` gives a file. Those before the first command are committed first; a path that begins with `../` lies
 *   beside the repository and is not committed. One blank line before the next part belongs to the layout, not the file.
 * - `$` runs a line by `sh` in the repository; it must end with exit code 0 unless `!` follows.
 * - `>` lines are the whole of its standard output: `*` stands for any text, `<name>` for one word that is remembered
 *   and may be used from then on, `...` alone for any lines. Without `>` lines the output is not looked at.
 * - `! code` is the exit code that is expected, or the error code of a refusal (exit code 1, named on standard error,
 *   or in the JSON value of `--json`).
 */
export interface Story {
  readonly title: string
  readonly files: readonly StoryFile[]
  readonly steps: readonly Step[]
}

interface StoryFile {
  readonly path: string
  readonly content: string
}

/** One part of a story after its first files. */
export type Step =
  | { readonly kind: 'file'; readonly file: StoryFile }
  | {
      readonly kind: 'command'
      readonly line: number
      readonly command: string
      /** null = not looked at. */
      readonly output: readonly string[] | null
      readonly failure: string | null
    }

const FILE_HEADER = /^-- (.+) --$/

export function parseStory(text: string): Story {
  const lines = text.replace(/\n$/, '').split('\n')
  const title = lines[0] ?? ''
  const files: StoryFile[] = []
  const steps: Step[] = []
  for (let at = 1; at < lines.length; ) {
    const line = lines[at] ?? ''
    const path = FILE_HEADER.exec(line)?.[1]
    if (path !== undefined) {
      const body = takeWhile(lines, at + 1, (next) => !FILE_HEADER.test(next) && !next.startsWith('$ '))
      if (body.at(-1) === '') body.pop()
      const file = { path, content: body.map((l) => `${l}\n`).join('') }
      if (steps.length === 0) files.push(file)
      else steps.push({ kind: 'file', file })
      at += 1 + body.length
    } else if (line.startsWith('$ ')) {
      const output = takeWhile(lines, at + 1, (next) => next === '>' || next.startsWith('> '))
      const after = lines[at + 1 + output.length] ?? ''
      const failure = after.startsWith('! ') ? after.slice(2) : null
      const expected = output.length === 0 ? null : output.map((l) => l.slice(2))
      steps.push({ kind: 'command', line: at + 1, command: line.slice(2), output: expected, failure })
      at += 1 + output.length + (failure === null ? 0 : 1)
    } else if (line.trim() === '' || line.startsWith('#')) at += 1
    else throw new Error(`line ${at + 1} of the story is no part of a story: ${line}`)
  }
  return { title, files, steps }
}

function takeWhile(lines: readonly string[], from: number, isPart: (line: string) => boolean): string[] {
  const end = lines.findIndex((line, index) => index >= from && !isPart(line))
  return lines.slice(from, end === -1 ? lines.length : end)
}

/**
 * Runs a story in a fresh repository. Throws at the first line that is not as told, with what was said instead.
 *
 * A line that is nothing but plain words to galley is run in this process, which says the same and starts no node; every other line
 * has the built command, and so have the steps of `built`.
 */
export async function runStory(story: Story, built: ReadonlySet<Step> = new Set()): Promise<void> {
  const committed = story.files.filter(({ path }) => !path.startsWith('../'))
  using repo = makeRepo({ files: Object.fromEntries(committed.map(({ path, content }) => [path, content])) })
  const env = { ...repo.env, PATH: `${makeBin(repo.home)}:${repo.env['PATH']}`, TZ: 'UTC' }
  for (const { path, content } of story.files) repo.write(path, content)
  const names = new Map<string, string>()
  for (const step of story.steps) {
    if (step.kind === 'file') repo.write(step.file.path, step.file.content)
    else {
      const command = step.command.replace(/<(\w+)>/g, (whole, name: string) => names.get(name) ?? whole)
      const words = built.has(step) ? null : plainWords(command)
      const said = words === null ? await shell(command, repo.dir, env) : await runHere(repo, words, env)
      compare(step, command, said, names)
    }
  }
}

/** A folder for PATH, with a `galley` that is the one just built. */
function makeBin(home: string): string {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(projectRoot, 'dist/galley.js')}" "$@"\n`
  writeFileSync(join(bin, 'galley'), program, { mode: 0o755 })
  return bin
}

interface Said {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function shell(command: string, cwd: string, env: Record<string, string>): Promise<Said> {
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', command], { cwd, env, timeout: 60_000 }, (_error, stdout, stderr) => {
      resolve({ status: child.exitCode, stdout, stderr })
    })
    child.stdin?.end()
  })
}

/** The first step of each verb, so that the built command has run each. */
export function firstOfEachVerb(stories: readonly Story[]): ReadonlySet<Step> {
  const first = new Map<string, Step>()
  for (const step of stories.flatMap((story) => story.steps)) {
    const verb =
      step.kind === 'command' ? /^galley (?:--?[-\w]+ )*([a-z]+)/.exec(step.command)?.[1] : undefined
    if (verb !== undefined && !first.has(verb)) first.set(verb, step)
  }
  return new Set(first.values())
}

/** Verbs that hand their own standard streams to another program. */
const BOUND_TO_PROCESS = ['run', 'demo']

/** The words of a line by which a shell would start galley and do nothing else; otherwise null. */
function plainWords(command: string): readonly string[] | null {
  if (!/^galley(?: +(?:"[^"$`\\!]*"|'[^']*'|[\w.,:/@%+=^-]+|HEAD~\d*(?:\.\.)?))*$/.test(command)) return null
  const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(([all, a, b]) => a ?? b ?? all)
  // What `-C` names is looked for from the directory of the process.
  return words.some((word) => word === '-C' || BOUND_TO_PROCESS.includes(word)) ? null : words.slice(1)
}

async function runHere(repo: TestRepo, words: readonly string[], env: Record<string, string>): Promise<Said> {
  const { code, stdout, stderr } = await cliHere(repo, words, { env })
  return { status: code, stdout, stderr }
}

function compare(
  step: Extract<Step, { kind: 'command' }>,
  command: string,
  said: Said,
  names: Map<string, string>,
): void {
  const told = `line ${step.line}: $ ${command}\nexit code ${said.status}\n${said.stdout}${said.stderr}`
  if (!endedAsExpected(step.failure, said)) {
    throw new Error(`${told}\nexpected ${step.failure === null ? 'exit code 0' : `failure: ${step.failure}`}`)
  }
  if (step.output === null) return
  const pattern = patternOf(step.output, names)
  const match = pattern.exec(
    said.stdout === '' || said.stdout.endsWith('\n') ? said.stdout : `${said.stdout}\n`,
  )
  if (match === null) throw new Error(`${told}\nexpected on standard output:\n${step.output.join('\n')}`)
  for (const [name, value] of Object.entries(match.groups ?? {})) names.set(name, value)
}

function endedAsExpected(failure: string | null, said: Said): boolean {
  if (failure === null) return said.status === 0
  if (/^\d+$/.test(failure)) return said.status === Number(failure)
  const isNamed = said.stderr.includes(`galley: ${failure}: `) || said.stdout.includes(`"code":"${failure}"`)
  return said.status === 1 && isNamed
}

/** The expected lines as one pattern over the whole output. */
function patternOf(lines: readonly string[], names: ReadonlyMap<string, string>): RegExp {
  const fresh = new Set<string>()
  const parts = lines.map((line) =>
    line === '...' ? '(?:.*\\n)*?' : `${linePattern(line, names, fresh)}\\n`,
  )
  const isEmpty = lines.length === 1 && lines[0] === ''
  return new RegExp(isEmpty ? '^$' : `^${parts.join('')}$`)
}

function linePattern(line: string, names: ReadonlyMap<string, string>, fresh: Set<string>): string {
  return line.replace(/<(\w+)>|\*|[\\^$.|?+()[\]{}]/g, (part, name: string | undefined) => {
    if (part === '*') return '.*'
    if (name === undefined) return `\\${part}`
    const known = names.get(name)
    if (known !== undefined) return known.replace(/[\\^$.*|?+()[\]{}]/g, (sign) => `\\${sign}`)
    if (fresh.has(name)) return `\\k<${name}>`
    fresh.add(name)
    return `(?<${name}>[\\w.-]+)`
  })
}
