import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { batch } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'

const edit = JSON.stringify(batch([{ op: 'replace', path: 'a.txt', old: 'two', new: 'three' }]))

test('a limit on the size of files, and a directory that was removed, are told as what they are', () => {
  using repo = makeRepo({ files: { 'a.txt': 'one\ntwo\n' } })
  const program = `"${process.execPath}" "${join(projectRoot, 'dist/galley.js')}"`
  const code = (script: string) => {
    const { stdout } = spawnSync('bash', ['-c', script], { cwd: repo.dir, env: repo.env, input: edit })
    return JSON.parse(stdout.toString('utf8')).error.code
  }
  expect(code(`ulimit -f 0; ${program} propose --json`)).toBe('io-error')
  mkdirSync(join(repo.dir, 'gone'))
  expect(code(`cd gone && rmdir ../gone && ${program} status --json`)).toBe('not-a-repository')
})
