import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, cli, openGalley } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const write = (content: string) => batch([{ op: 'write', path: 'a.txt', content }])

describe('names that are not UTF-8', () => {
  test.each([
    ['a file', 'touch "$(printf "\\\\377")"'],
    ['a directory with a file', 'd="$(printf "\\\\377")"; mkdir "$d"; touch "$d/f"'],
    ['a pipe', 'mkfifo "$(printf "\\\\377")"'],
  ])('which a check gives to %s in a full tree are gone at its next use', async (_, make) => {
    const policy = { checks: [{ name: 'odd', run: `[ "$(ls | wc -l)" = 1 ] && ${make}`, tree: 'full' }] }
    using repo = makeRepo({ files: { '.galley.json': JSON.stringify(policy), 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    for (const content of ['one\n', 'two\n']) {
      const { change } = await galley.propose({ batch: write(content) })
      expect(change.checks).toMatchObject([{ outcome: 'passed' }])
    }
  })

  test('do not keep the store from being purged', async () => {
    const policy = { checks: [{ name: 'odd', run: 'touch "$(printf "\\\\377")"' }] }
    using repo = makeRepo({ files: { '.galley.json': JSON.stringify(policy), 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    await galley.propose({ batch: write('one\n') })
    expect(cli(repo, ['purge', '--force'])).toMatchObject({ code: 0 })
  })
})
