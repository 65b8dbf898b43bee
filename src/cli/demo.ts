import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { GalleyError } from '../model/error.ts'
import { run } from '../sys/process.ts'
import { removeTree } from '../sys/trees.ts'
import { demoBatch, demoFiles } from './demo-content.ts'

/** One command of the demo with what it printed. */
export interface DemoStep {
  readonly command: string
  readonly exitCode: number | null
  readonly output: string
}

/**
 * Makes a throw-away repository and runs the real commands in it, printing each with its output.
 *
 * Leaves nothing behind unless `keep`. Its environment is its own: neither the user's configuration nor an agent's
 * variables reach it.
 *
 * @throws GalleyError `internal`, if a command of the demo does not do what it shows.
 */
export async function runDemo(
  program: string,
  keep: boolean,
  print: (text: string) => void,
): Promise<{ readonly steps: readonly DemoStep[]; readonly directory: string | null }> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'galley-demo-')))
  const directory = join(home, 'shop')
  await mkdir(directory)
  const steps: DemoStep[] = []
  const step = makeStep({ program, home, directory, print, steps })
  try {
    await prepare(home, directory, step)
    await showJob(step, print)
  } finally {
    if (!keep) await removeTree(home)
  }
  if (!keep)
    print(
      '\nThat was all of it. The throw-away repository is gone. In your own: see the five-minute tour in the README.\n',
    )
  return { steps, directory: keep ? directory : null }
}

type Step = (
  command: string,
  words: readonly string[],
  options?: { readonly quiet?: boolean },
) => Promise<string>

function makeStep(place: {
  readonly program: string
  readonly home: string
  readonly directory: string
  readonly print: (text: string) => void
  readonly steps: DemoStep[]
}): Step {
  const env = demoEnvironment(place.home)
  return async (command, words, options = {}) => {
    const [name, ...args] = words
    const [file, all] = name === 'galley' ? [process.execPath, [place.program, ...args]] : [name ?? '', args]
    const result = await run({
      file,
      args: all,
      cwd: place.directory,
      env,
      timeoutMs: 60_000,
      outputMaxBytes: 1 << 20,
    })
    const output = result.stdout.toString('utf8') + result.stderr.toString('utf8')
    place.steps.push({ command, exitCode: result.exitCode, output })
    if (options.quiet !== true)
      place.print(`$ ${command}\n${output}${output.endsWith('\n') || output === '' ? '' : '\n'}\n`)
    if (result.exitCode !== 0) {
      throw new GalleyError({
        code: 'internal',
        message: `the demo's command failed: ${command}`,
        data: { output },
      })
    }
    return output
  }
}

function demoEnvironment(home: string): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    TMPDIR: tmpdir(),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    LC_ALL: 'C.UTF-8',
  }
}

async function prepare(home: string, directory: string, step: Step): Promise<void> {
  await writeFile(
    join(home, 'gitconfig'),
    '[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n',
  )
  for (const [path, text] of Object.entries(demoFiles)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  await writeFile(join(home, 'batch.json'), `${JSON.stringify(demoBatch, null, 2)}\n`)
  await step('git init', ['git', 'init', '--quiet'], { quiet: true })
  await step('git add', ['git', 'add', '--all'], { quiet: true })
  await step('git commit', ['git', 'commit', '--quiet', '-m', 'A small shop'], { quiet: true })
}

async function showJob(step: Step, print: (text: string) => void): Promise<void> {
  print('A throw-away repository with a few files, and work of yours that is not committed:\n\n')
  await step("echo '- buy milk' >> notes.txt", ['sh', '-c', "echo '- buy milk' >> notes.txt"])
  await step('git status --short', ['git', 'status', '--short'])
  print(
    'An agent proposes a batch of edits over several files. It becomes a commit that touches nothing of yours:\n\n',
  )
  const proposed = await step('galley propose ../batch.json', ['galley', 'propose', '../batch.json'])
  const id = /^(g[0-9a-z]{9}) /m.exec(proposed)?.[1] ?? ''
  await step('git status --short', ['git', 'status', '--short'])
  print('You approve exactly what you saw; nothing lands without that:\n\n')
  await step(`galley approve ${id}`, ['galley', 'approve', id])
  await step(`galley land ${id}`, ['galley', 'land', id])
  await step('git log --oneline --stat', ['git', 'log', '--oneline', '--stat', '-1'])
  await step('git status --short', ['git', 'status', '--short'])
  print(
    'Your own line in notes.txt is still yours. And the change can be taken back, by a revert, at any time:\n\n',
  )
  await step(`galley undo ${id} --yes`, ['galley', 'undo', id, '--yes'])
  await step('git log --oneline', ['git', 'log', '--oneline'])
  await step('git status --short', ['git', 'status', '--short'])
}
