import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CliResult, cliHere } from './galley.ts'
import type { TestRepo } from './repo.ts'

/** Runs verbs with a git that leaves a trace of each process, its own children among them. */
export function countGits(repo: TestRepo) {
  const [bin, traces] = [join(repo.home, 'traced'), join(repo.home, 'traces')]
  mkdirSync(bin)
  const path = repo.env['PATH'] ?? ''
  // The environment that galley gives to git is built from nothing: the variable has to be set behind it.
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\nPATH=${path}\nGIT_TRACE2_EVENT='${traces}'\nexport PATH GIT_TRACE2_EVENT\nexec git "$@"\n`,
  )
  chmodSync(join(bin, 'git'), 0o755)
  return async (args: readonly string[], input = ''): Promise<CliResult & { readonly gits: string[] }> => {
    rmSync(traces, { recursive: true, force: true })
    mkdirSync(traces)
    const result = await cliHere(repo, args, { input, env: { PATH: `${bin}:${path}` } })
    return {
      ...result,
      gits: readdirSync(traces)
        .sort()
        .map((file) => commandOf(join(traces, file))),
    }
  }
}

/** The git command, without the options before it. */
function commandOf(trace: string): string {
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    const event = JSON.parse(line || '{}')
    if (event.event === 'start')
      return event.argv
        .slice(1)
        .find((arg: string, i: number) => !arg.startsWith('-') && event.argv[i] !== '-c')
  }
  return '?'
}
