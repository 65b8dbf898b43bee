import { execFile } from 'node:child_process'
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LandingPoint } from '../../src/landing/request.ts'
import { openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { land, leftovers } from './stage-change.ts'

const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 30 }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('')

/**
 * The ways in which programs save: each gives a function that makes the save, at whatever moment it is
 * called.
 */
const EDITORS: Readonly<Record<string, (file: string, text: string) => () => void>> = {
  'in place': (file, text) => () => {
    const descriptor = openSync(file, 'w')
    writeSync(descriptor, text)
    closeSync(descriptor)
  },
  'to a file that it had open': (file, text) => {
    const descriptor = openSync(file, 'r+')
    return () => {
      writeSync(descriptor, text, 0)
      closeSync(descriptor)
    }
  },
  'by rename': (file, text) => () => {
    writeFileSync(`${file}.tmp`, text)
    renameSync(`${file}.tmp`, file)
  },
}

const POINTS: readonly LandingPoint[] = [
  'planned',
  'staged',
  'journaled',
  'index-locked',
  'ref-prepared',
  'validated',
  'moved-away-0',
  'placed-0',
  'all-placed',
  'checked',
  'index-completed',
  'committed',
  'index-swapped',
  'unlocked',
  'closed',
]

function displacedTexts(repo: TestRepo): string {
  const root = join(repo.dir, '.git/galley/done')
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.includes('/old/')).map((name) => join(root, name))
  return files
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'))
    .join('')
}

describe('an editor that saves at the very moment', () => {
  test.each(Object.entries(EDITORS))(
    '%s loses nothing, at whatever step of the landing',
    async (style, open) => {
      await using repo = makeRepo()
      for (const [round, point] of POINTS.entries()) {
        repo.write('a.txt', lines())
        repo.commit(`round ${round}`)
        const mine = `MINE ${round}.`
        const save = open(join(repo.dir, 'a.txt'), lines({ 25: mine }))
        let isSaved = false
        const reach = (reached: LandingPoint) => {
          if (reached !== point || isSaved) return
          isSaved = true
          save()
        }
        const report = await land(repo, { 'a.txt': lines({ 2: 'AGENT' }) }, { reach })
        const what = `${style} at ${point}`
        expect(isSaved, what).toBe(true)
        const isInFile = repo.read('a.txt').includes(mine)
        // Bytes that went to the displaced file are kept, and told of while the landing could still see them.
        if (!isInFile) expect(displacedTexts(repo), what).toContain(mine)
        if (!isInFile && point !== 'closed')
          expect(report.remarks.join(), what).toContain('a.txt was saved by a program')
        expect(repo.git('show', 'HEAD:a.txt'), what).toBe(lines({ 2: 'AGENT' }).trimEnd())
        // What git says of the file is true.
        expect(repo.git('status', '--porcelain'), what).toBe(isInFile ? ' M a.txt' : '')
        expect(leftovers(repo), what).toEqual([])
      }
    },
  )
})

const run = (repo: TestRepo, args: readonly string[]): Promise<boolean> =>
  new Promise((resolve) =>
    execFile('git', [...args], { cwd: repo.dir, env: repo.env }, (error) => resolve(error === null)),
  )

describe('a user who keeps committing', () => {
  test('never commits a part of a landing, and no landing takes up a part of theirs', async () => {
    await using repo = makeRepo({ files: { 'a.txt': 'a 0\n', 'b.txt': 'b 0\n', 'mine.txt': 'mine 0\n' } })
    await using galley = await openGalley(repo)
    let isOver = false
    let committed = 0
    const user = (async () => {
      for (let n = 1; !isOver; n++) {
        repo.write('mine.txt', `mine ${n}\n`)
        if (await run(repo, ['commit', '-qam', `user ${n}`])) committed++
        await new Promise((resolve) => setTimeout(resolve, 40 * (n % 5)))
      }
    })()
    for (let n = 1; n <= 10; n++) {
      const edits = ['a', 'b'].map((name) => ({
        op: 'write',
        path: `${name}.txt`,
        content: `${name} ${n}\n`,
      }))
      const { change } = await galley.propose({ batch: { version: 1, title: `agent ${n}`, edits } })
      await galley.approve({ id: change.id })
      // However fast they commit: what they touch is not what lands.
      await galley.land({ id: change.id })
    }
    isOver = true
    await user
    const commits = repo.git('log', '--format=%x01%s', '--name-only').split('\x01').slice(1)
    const mixed = commits.filter((text) => {
      const [subject = '', ...paths] = text.split('\n').filter((line) => line !== '')
      return subject !== 'first' && paths.join() !== (subject.startsWith('user') ? 'mine.txt' : 'a.txt,b.txt')
    })
    expect(commits).toHaveLength(1 + 10 + committed)
    expect(mixed).toEqual([])
    expect(repo.read('a.txt') + repo.read('b.txt')).toBe('a 10\nb 10\n')
    expect(repo.tryGit('fsck', '--strict', '--no-dangling')).toEqual({ code: 0, out: '' })
  })
})
