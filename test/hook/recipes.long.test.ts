import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { commitFiles, guardMain, landChange } from '../flow/verify-world.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'
import { asAgent, runAs } from './hook-world.ts'
import { installLefthook, writeScript } from './managers.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8')

/** The block of the README before the mark of this name. */
function recipe(name: string): string {
  const before = readme.split(`<!-- recipe: ${name} -->`)[0] ?? ''
  const block = before.split('```').at(-2) ?? ''
  return block.slice(block.indexOf('\n') + 1)
}

/** With `galley` in PATH, as a reader of the README has it. */
function withGalley(repo: TestRepo): Record<string, string> {
  const program = `exec "${process.execPath}" "${join(projectRoot, 'dist/galley.js')}" "$@"`
  writeScript(join(repo.home, 'bin/galley'), `#!/bin/sh\n${program}\n`)
  return { PATH: `${join(repo.home, 'bin')}:${repo.env['PATH']}` }
}

describe('the recipes of the README', () => {
  test('server, push and CI do what they say', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeRepo({ bare: true, name: 'project.git' })
    const env = withGalley(repo)
    repo.git('remote', 'add', 'origin', server.dir)
    repo.git('push', '--quiet', 'origin', 'main')
    const setUp = recipe('server').replace('/srv/git/project.git', () => server.dir)
    expect(runAs(repo, ['sh', '-e', '-c', setUp], env).code).toBe(0)

    const { commit } = await landChange(repo, 'Two', { 'a.txt': 'two\n' })
    expect(runAs(repo, ['git', 'push', 'origin', 'main'], env).out).toMatch(/remote: galley: /)
    expect(runAs(repo, ['sh', '-e', '-c', recipe('push')], env).code).toBe(0)
    expect(server.git('rev-parse', 'main')).toBe(commit)

    const steps = recipe('ci')
      .split('\n')
      .flatMap((line) => /^ *- run: (.*)$/.exec(line)?.[1] ?? [])
      .filter((line) => !line.startsWith('npm install'))
    expect(steps).toHaveLength(2)
    const ci = (title: string) => {
      runAs(repo, ['git', 'clone', '--quiet', server.dir, join(repo.home, title)])
      const where = { cwd: join(repo.home, title) }
      runAs(repo, ['git', 'checkout', '--quiet', '--detach', 'origin/topic'], {}, where)
      return runAs(repo, ['sh', '-e', '-c', steps.join('\n')], { ...env, GITHUB_BASE_REF: 'main' }, where)
    }
    repo.git('checkout', '--quiet', '-b', 'topic')
    await landChange(repo, 'Good', { 'b.txt': 'b\n' })
    expect(runAs(repo, ['galley', 'push', 'origin', '--with-branch', 'topic'], env).code).toBe(0)
    expect(ci('good').code).toBe(0)
    commitFiles(repo, 'By hand', { 'c.txt': 'c\n' })
    repo.git('push', '--quiet', 'origin', 'topic')
    const failed = ci('bad')
    expect(failed.code).toBe(1)
    expect(failed.out).toMatch(/^unapproved \w+ {2}By hand$/m)
  })

  test("a line in a manager's own file counts as installed, and is not doubled", () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    const env = withGalley(repo)
    expect(readme).toContain('run: galley hook pre-commit }')
    installLefthook(repo)
    const script = readFileSync(join(repo.dir, '.git/hooks/pre-commit'), 'utf8')
    writeScript(join(repo.dir, '.git/hooks/pre-commit'), `${script}galley hook pre-commit\n`)
    const installed = runAs(repo, ['galley', 'hooks', 'install', '--json'], env).out
    expect(JSON.parse(installed).hooks[0]).toMatchObject({ name: 'pre-commit', text: 'in place already' })
    expect(readFileSync(join(repo.dir, '.git/hooks/pre-commit'), 'utf8')).toBe(
      `${script}galley hook pre-commit\n`,
    )
    repo.write('b.txt', 'b\n')
    repo.git('add', 'b.txt')
    expect(runAs(repo, ['git', 'commit', '-m', 'Its'], { ...env, CLAUDECODE: '1' }).out).toMatch(
      /galley: unapproved/,
    )
    expect(asAgent(repo, 'status', '--short').code).toBe(0)
  })
})
