import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import { bundleLanding, copyScene, ended, recoverAndCheck, setScene, startLanding } from './kill-harness.ts'
import { stageChange } from './stage-change.ts'

const COMMIT = '1'.repeat(40)

/** Links and submodules come, move, go, and change places with files and directories. */
const CHANGES = {
  'turned.ln': { link: 'other' },
  'gone.ln': null,
  'new/dir/new.ln': { link: '../../a.txt' },
  'a.txt': { link: 'b.txt' },
  'file.ln': 'a file now\n',
  'dir/inner.txt': null,
  dir: { link: 'new' },
  'dir.ln': null,
  'dir.ln/inner.txt': 'a directory now\n',
  moved: { submodule: '2'.repeat(40) },
  dropped: null,
  added: { submodule: COMMIT },
  filled: 'a file now\n',
  'b.txt': 'B\n',
}

test('a landing of links and submodules that is killed is all there or all undone, whatever step it was killed at', async () => {
  const { program, remove } = await bundleLanding()
  const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'dir/inner.txt': 'i\n' }
  const scene = await setScene(files, CHANGES, (repo) => {
    for (const [path, target] of Object.entries({
      'turned.ln': 'a.txt',
      'gone.ln': 'b.txt',
      'file.ln': 'a.txt',
      'dir.ln': 'dir',
    }))
      symlinkSync(target, join(repo.dir, path))
    for (const path of ['moved', 'dropped', 'filled']) {
      mkdirSync(join(repo.dir, path))
      repo.git('update-index', '--add', '--cacheinfo', `160000,${COMMIT},${path}`)
    }
    repo.git('add', '--', '*.ln')
    repo.git('commit', '-q', '-m', 'links')
  })
  const points: string[] = []
  {
    using copy = copyScene(scene)
    const request = await stageChange(copy.repo, CHANGES)
    await landCommit({ ...request, reach: (point) => void points.push(point) })
  }
  const outcomes: string[] = []
  for (const point of points) {
    using copy = copyScene(scene)
    await ended(startLanding(program, copy, point))
    const outcome = recoverAndCheck(copy)
    outcomes.push(
      await outcome.catch((cause: unknown) => Promise.reject(new Error(`killed at ${point}`, { cause }))),
    )
  }
  const decided = points.indexOf('committed')
  expect(outcomes).toEqual(points.map((_, i) => (i < decided ? 'old' : 'new')))
  scene.repo[Symbol.dispose]()
  remove()
})
