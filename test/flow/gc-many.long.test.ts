import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectGarbage } from '../../src/flow/gc/gc.ts'
import { listLog } from '../../src/flow/status.ts'
import { makeRepo } from '../helpers/repo.ts'
import { landNew, openFor } from './gc-world.ts'

describe('after many landed changes', () => {
  const count = Number(process.env['GALLEY_TEST_CHANGES'] ?? 12)

  test(
    `${count} of them: the user's repository shows nothing but their commits, and its size is bounded`,
    async () => {
      const lines = Array.from({ length: 40 }, (_, n) => `line ${n}\n`)
      const files = Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`src/f${n}.txt`, lines.map((l) => `${n} ${l}`).join('')]),
      )
      using repo = makeRepo({ files })
      await using open = await openFor(repo)
      for (let n = 0; n < count; n++) {
        const [file, line] = [n % 20, Math.floor(n / 20) % 40]
        const edit = {
          op: 'lines',
          path: `src/f${file}.txt`,
          from: line + 1,
          to: line + 1,
          content: `changed ${n}\n`,
        }
        const blob = repo.git('rev-parse', `HEAD:src/f${file}.txt`)
        await landNew(
          open.world,
          [{ ...edit, blob }],
          { title: `Change ${n}`, agent: { name: 'robot' } },
          'later',
        )
      }
      // Displaced files are kept for some hours.
      await using later = await openFor(repo, 2)
      const begun = performance.now()
      const { after } = await collectGarbage(later.world, { dryRun: false })
      const tookMs = performance.now() - begun
      repo.git('gc', '-q', '--prune=now')
      expect(repo.git('fsck', '--full', '--strict')).toBe('')
      expect(repo.git('log', '--all', '--format=%s').split('\n')).toHaveLength(count + 1)
      expect(repo.git('branch', '--all').split('\n')).toEqual(['* main'])
      expect(repo.git('tag')).toBe('')
      expect(repo.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
      expect(repo.bytes('.git/config').toString()).not.toMatch(/galley/)
      expect(after.refs).toBe(1)

      const plain = join(repo.home, 'plain')
      repo.git('clone', '-q', '--bare', repo.dir, plain)
      repo.git('--git-dir', plain, 'gc', '-q', '--prune=now')
      const [own, theirs] = [sizeOf(join(repo.dir, '.git')), sizeOf(plain)]
      if (process.env['GALLEY_TEST_CHANGES'] !== undefined) {
        const galley = sizeOf(join(repo.dir, '.git/galley'))
        process.stdout.write(
          `${count} changes: .git ${own} bytes, of which galley ${galley}; the same commits alone ${theirs}; gc ${tookMs.toFixed(0)} ms\n`,
        )
      }
      // What a change costs, beside what a repository costs that holds nothing.
      expect(own - theirs).toBeLessThan(600_000 + count * 6_000)
      expect((await listLog(later.world, { limit: 1 }))[0]?.title).toBe(`Change ${count - 1}`)
    },
    Math.max(60_000, count * 10_000),
  )
})

const sizeOf = (path: string): number => {
  const stat = statSync(path)
  const own = stat.blocks * 512
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), own)
    : own
}
