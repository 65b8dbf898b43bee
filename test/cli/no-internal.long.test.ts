import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const edit = JSON.stringify(batch([{ op: 'replace', path: 'a.txt', old: 'two', new: 'three' }]))

/** Worlds that are broken from outside, each after a change has been staged. */
const worlds: readonly (readonly [name: string, spoil: (repo: TestRepo, id: string) => void])[] = [
  ['an index of garbage', (repo) => repo.write('.git/index', 'garbage')],
  ['an index that is cut off', (repo) => repo.write('.git/index', repo.bytes('.git/index').subarray(0, 40))],
  [
    'a ref of the store that is garbage',
    (repo, id) => repo.write(`.git/galley/store.git/refs/galley/log/${id}`, 'garbage\n'),
  ],
  [
    'a ref of the store that is empty',
    (repo, id) => repo.write(`.git/galley/store.git/refs/galley/log/${id}`, ''),
  ],
  [
    'a branch whose name is not UTF-8',
    (repo) =>
      void execFileSync('bash', ['-c', "git checkout -qb $'caf\\xe9'"], { cwd: repo.dir, env: repo.env }),
  ],
  [
    'a tracked file whose name is not UTF-8',
    (repo) =>
      void execFileSync(
        'bash',
        ['-c', "echo x >$'f\\xe9' && git add . && git commit -qm odd && echo y >$'f\\xe9'"],
        {
          cwd: repo.dir,
          env: repo.env,
        },
      ),
  ],
  [
    'a cache folder that is a file',
    (repo) => {
      execFileSync('rm', ['-rf', join(repo.home, 'cache')])
      writeFileSync(join(repo.home, 'cache'), '')
    },
  ],
]

describe('no verb ends as a fault of galley in', () => {
  test.each(worlds)('%s', async (_, spoil) => {
    using repo = makeRepo({
      files: { 'a.txt': 'one\ntwo\n', '.galley.json': '{"checks":[{"name":"c","run":"true"}]}' },
    })
    const { id } = await (async () => {
      await using galley = await openGalley(repo)
      return (
        await galley.propose({ batch: batch([{ op: 'replace', path: 'a.txt', old: 'one', new: '1' }]) })
      ).change
    })()
    spoil(repo, id)
    repo.write('a.txt', 'one\ntwo\nmine\n')
    const verbs = [
      ['status'],
      ['show', id],
      ['propose'],
      ['check', id],
      ['approve', id],
      ['land', id],
      ['undo', 'HEAD'],
      ['capture'],
      ['doctor'],
      ['gc'],
      ['verify', 'HEAD'],
      ['open', id],
    ]
    const ended: unknown[] = []
    for (const verb of verbs) {
      const { code, json } = await cliHere(repo, [...verb, '--json'], { input: edit })
      if (code !== 0 && code !== 1) ended.push([verb, json.error])
    }
    expect(ended).toEqual([])
  })
})
