import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const everything = { '.galley.json': JSON.stringify({ autoApprove: { paths: ['**'] } }) }

async function stateOf(repo: TestRepo, path: string): Promise<string> {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch([{ op: 'write', path, content: 'x\n' }]) })
  return change.state
}

describe('a rule for everything does not approve', () => {
  test('what lies where core.hooksPath points, in any letter case; beside it, it does', async () => {
    using repo = makeRepo({ files: { ...everything, 'hooks/use-x.ts': 'x\n' } })
    repo.git('config', 'core.hooksPath', 'tools/hooks')
    for (const path of ['tools/hooks/pre-commit', 'tools/hooks/lib/common.sh', 'Tools/Hooks/pre-push'])
      expect([path, await stateOf(repo, path)]).toEqual([path, 'staged'])
    for (const path of ['hooks/use-y.ts', 'tools/hooks.ts'])
      expect([path, await stateOf(repo, path)]).toEqual([path, 'approved'])
  })

  test('what a hook in .git is a link to', async () => {
    using repo = makeRepo({
      files: { ...everything, 'scripts/pre-push.sh': 'true\n', 'scripts/other.sh': 'true\n' },
    })
    mkdirSync(join(repo.dir, '.git/hooks'), { recursive: true })
    symlinkSync('../../scripts/pre-push.sh', join(repo.dir, '.git/hooks/pre-push'))
    expect(await stateOf(repo, 'scripts/pre-push.sh')).toBe('staged')
    expect(await stateOf(repo, 'scripts/other.sh')).toBe('approved')
  })

  test('a new file that git ignores; one that it tracks all the same, it does', async () => {
    using repo = makeRepo({ files: { ...everything, '.gitignore': '*.pem\n' } })
    repo.write('old.pem', 'old\n')
    repo.git('add', '-f', 'old.pem')
    repo.git('commit', '-q', '-m', 'tracked all the same')
    expect(await stateOf(repo, 'new.pem')).toBe('staged')
    expect(await stateOf(repo, 'old.pem')).toBe('approved')
  })
})
