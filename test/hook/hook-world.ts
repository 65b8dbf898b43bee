import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
}

/** Runs git, or another program, as somebody would: with the environment of the test repository and more. */
export function runAs(
  repo: TestRepo,
  argv: readonly string[],
  more: Readonly<Record<string, string>> = {},
  options: { readonly cwd?: string; readonly input?: string } = {},
): Ran {
  const [file = '', ...args] = argv
  const result = spawnSync(file, args, {
    cwd: options.cwd ?? repo.dir,
    env: { ...repo.env, ...more },
    input: options.input ?? '',
    encoding: 'utf8',
  })
  return { code: result.status, out: `${result.stdout}${result.stderr}` }
}

export const agent = { CLAUDECODE: '1' }

export const asAgent = (repo: TestRepo, ...args: readonly string[]): Ran =>
  runAs(repo, ['git', ...args], agent)

export const asPerson = (repo: TestRepo, ...args: readonly string[]): Ran => runAs(repo, ['git', ...args])

/** Runs galley, which must end well. */
export function galley(repo: TestRepo, ...args: readonly string[]): string {
  const result = cli(repo, args)
  expect(result.stderr).toBe('')
  expect(result.code).toBe(0)
  return result.stdout
}

/** A bare repository with the server's hook, to which the repository's branch has been pushed; it is the remote `origin`. */
export function makeServer(repo: TestRepo, more: readonly string[] = []): TestRepo {
  const server = makeRepo({ bare: true, name: 'server.git' })
  repo.git('remote', 'add', 'origin', server.dir)
  repo.git('push', '--quiet', 'origin', 'main')
  repo.git('fetch', '--quiet')
  mkdirSync(join(server.dir, 'hooks'), { recursive: true })
  galley(server, 'hooks', 'install', ...more)
  return server
}
