import { beforeAll, expect, inject, test } from 'vitest'
import { approveChange, guardMain, landChange, linesOf, verifyRange } from '../flow/verify-world.ts'
import { type Dice, diceOf } from '../helpers/branch-model.ts'
import { cli } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { gitRuns, seedOf } from '../helpers/runs.ts'
import { asPerson, galley, makeServer, runAs } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

/** Steps of each kind in all, and histories that they are spread over: a step takes two seconds. `GALLEY_RUNS=1000` makes a hundred. */
const STEPS = gitRuns(35)
const HISTORIES = 5

const lines = (first: number, last: number): string => [first, ...'abcdefgh', last, ''].join('\n')

/** A repository with its hooks, and a guarded server, on which honest and other people take turns. */
class Days {
  readonly repo: TestRepo
  readonly server: TestRepo
  /** Landed on main, with what can be taken back. */
  readonly landed: string[] = []
  readonly undone: string[] = []
  private readonly dice: Dice
  private count = 0

  constructor(dice: Dice) {
    this.dice = dice
    const files = Object.fromEntries([0, 1, 2, 3].map((n) => [`f${n}.txt`, lines(0, 0)]))
    this.repo = makeRepo({ files: { ...files, ...guardMain } })
    this.server = makeServer(this.repo)
    galley(this.repo, 'hooks', 'install', '--reference-transaction')
  }

  private git = (...args: readonly string[]): void => {
    const { code, out } = asPerson(this.repo, ...args)
    expect(code, `git ${args.join(' ')}: ${out}`).toBe(0)
  }

  /** The first or the last line of a file, so that two changes of one file often merge. */
  private async land(): Promise<string> {
    const path = `f${this.dice(4)}.txt`
    const text = this.repo.read(path).split('\n')
    text[this.dice(2) === 0 ? 0 : 9] = String(++this.count)
    return (await landChange(this.repo, `Change ${this.count}`, { [path]: text.join('\n') })).id
  }

  private async onTopic(from: string, changes: number): Promise<readonly string[]> {
    this.git('checkout', '--quiet', '-B', 'topic', from)
    const ids: string[] = []
    for (let n = 0; n < changes; n++) ids.push(await this.land())
    return ids
  }

  async honest(): Promise<string> {
    const kinds = [
      'land',
      'amend',
      'squash',
      'merge',
      'merge',
      'rebase',
      'cherry-pick',
      'undo',
      'redo',
    ] as const
    const kind = kinds[this.dice(kinds.length)] ?? 'land'
    const main = this.repo.git('rev-parse', 'main')
    const old = this.repo.tryGit('rev-parse', '-q', '--verify', `main~${this.dice(3)}`).out || main
    if (kind === 'undo' || kind === 'redo') {
      const from = kind === 'undo' ? this.landed : this.undone
      const id = from.pop()
      if (id !== undefined && cli(this.repo, [kind, id, '--yes']).code === 0) {
        if (kind === 'undo') this.undone.push(id)
        return kind
      }
    }
    if (kind === 'squash' || kind === 'merge' || kind === 'rebase' || kind === 'cherry-pick') {
      await this.onTopic(
        kind === 'squash' || kind === 'cherry-pick' ? main : old,
        kind === 'cherry-pick' ? 1 : 2,
      )
      if (kind === 'rebase' && asPerson(this.repo, 'rebase', '--quiet', 'main').code !== 0) {
        this.git('rebase', '--abort')
        this.git('checkout', '--quiet', 'main')
        return 'nothing'
      }
      // What a rebase merged anew is other bytes than were approved.
      const isOther = kind === 'rebase' && /unapproved|forged/.test((await this.found('main..topic')).join())
      this.git('checkout', '--quiet', 'main')
      if (isOther) return 'nothing'
      if (kind === 'rebase') this.git('merge', '--quiet', '--ff-only', 'topic')
      if (kind === 'cherry-pick') {
        this.git('commit', '--quiet', '--allow-empty', '-m', 'Between')
        this.git('cherry-pick', 'topic')
      }
      if (kind === 'squash') {
        this.git('merge', '--quiet', '--squash', 'topic')
        const message = this.dice(2) === 0 ? ['-m', 'All of it'] : ['--no-edit']
        this.git('commit', '--quiet', ...message)
      }
      if (
        kind === 'merge' &&
        asPerson(this.repo, 'merge', '--quiet', '--no-ff', '--no-edit', 'topic').code !== 0
      ) {
        // A conflict, which only a person can resolve.
        expect(this.repo.git('ls-files', '--unmerged')).not.toBe('')
        this.git('merge', '--abort')
        return 'nothing'
      }
      return kind
    }
    this.landed.push(await this.land())
    if (kind === 'amend') this.git('commit', '--quiet', '--amend', '-m', `Said well ${this.count}`)
    return kind
  }

  async found(range: string): Promise<readonly string[]> {
    return linesOf(await verifyRange(this.repo, range, { onto: 'main' }))
  }

  push(): void {
    const pushed = cli(this.repo, ['push', 'origin', '--with-branch', 'main', '--json'])
    expect(pushed.code, JSON.stringify(pushed.json)).toBe(0)
    this.repo.git('fetch', '--quiet', 'origin')
  }

  /** A commit on main as it must not be, made past every hook; null where it cannot be made just now. */
  async forbidden(): Promise<string | null> {
    const { repo } = this
    const main = repo.git('rev-parse', 'main')
    const name = (id: string) => `More\n\nGalley-Change: ${id}`
    const past = (...args: readonly string[]) =>
      runAs(repo, ['git', '-c', 'core.hooksPath=/dev/null', ...args]).code === 0
    const write = (message: string): boolean => {
      repo.write(`f${this.dice(4)}.txt`, `${++this.count}\n`)
      return past('commit', '--quiet', '--all', '-m', message)
    }
    const approved = async () => approveChange(repo, 'Open', { 'new.txt': `${++this.count}\n` })
    const commitTree = (tree: string, ...parents: readonly string[]) => {
      const made = repo.git('commit-tree', ...parents.flatMap((one) => ['-p', one]), '-m', 'Merge', tree)
      return past('update-ref', 'refs/heads/main', made) && past('reset', '--quiet', '--hard')
    }
    const used = this.landed[this.dice(Math.max(1, this.landed.length))]
    const ways: readonly (readonly [string, () => boolean | Promise<boolean>])[] = [
      ['by hand', () => write('By hand')],
      ['by a used name', () => (used === undefined ? false : write(name(used)))],
      [
        'empty, by a name',
        async () => past('commit', '--quiet', '--allow-empty', '-m', name((await approved()).id)),
      ],
      [
        'more than approved',
        async () => {
          await approved()
          repo.write('new.txt', `${this.count}\n`)
          repo.write('more.txt', 'more\n')
          return past('add', '--all') && past('commit', '--quiet', '-m', 'More')
        },
      ],
      [
        'rejected',
        async () => {
          const { id } = await approved()
          galley(repo, 'reject', id, '-m', 'no')
          repo.write('new.txt', `${this.count}\n`)
          return past('add', '--all') && past('commit', '--quiet', '-m', 'Rejected')
        },
      ],
      [
        'reverted by hand',
        () => past('revert', '--no-edit', '-m', '1', 'HEAD') || past('revert', '--no-edit', 'HEAD'),
      ],
      ['taken back by a merge', () => commitTree('main~1^{tree}', 'main~1', 'main')],
      ['taken back on the line', () => commitTree('main~1^{tree}', 'main', 'main~1')],
      [
        'an unrelated beginning',
        () => commitTree('main^{tree}', repo.git('commit-tree', '-m', 'e', 'main^{tree}'), 'main'),
      ],
      ['made again', () => past('revert', '--no-edit', 'HEAD') && past('revert', '--no-edit', 'HEAD')],
    ]
    const [what, way] = ways[this.dice(ways.length)] ?? ways[0] ?? ['', () => false]
    const isMade = (await way()) && repo.git('rev-parse', 'main') !== main
    return isMade ? what : null
  }

  back(main: string): void {
    for (const args of [
      ['revert', '--abort'],
      ['reset', '--quiet', '--hard', main],
      ['clean', '-fdq'],
    ])
      runAs(this.repo, ['git', '-c', 'core.hooksPath=/dev/null', ...args])
  }

  [Symbol.dispose](): void {
    this.server[Symbol.dispose]()
    this.repo[Symbol.dispose]()
  }
}

test.each(Array.from({ length: HISTORIES }, (_, n) => seedOf(5) + n))(
  'a guarded server takes every honest step, and none after it that is not (seed %i)',
  async (seed) => {
    using days = new Days(diceOf(seed))
    const { repo, server } = days
    const done: string[] = []
    let refused = 0
    for (let n = 0; n < STEPS / HISTORIES; n++) {
      done.push(await days.honest())
      expect((await days.found('origin/main..main')).join('\n'), done.join()).not.toMatch(
        /^(unapproved|forged)/m,
      )
      days.push()
      const main = repo.git('rev-parse', 'main')
      expect(server.git('rev-parse', 'main')).toBe(main)
      const what = await days.forbidden()
      if (what !== null) {
        refused++
        galley(repo, 'push', 'origin')
        const found = await days.found(`${main}..main`)
        expect(found.join('\n'), `${done.join()}, then ${what}`).toMatch(/^(unapproved|forged)/m)
        const pushed = asPerson(repo, 'push', '--no-verify', '--force', 'origin', 'main')
        expect(pushed.out, `${done.join()}, then ${what}`).toMatch(/remote: galley: (unapproved|forged)/)
        expect(server.git('rev-parse', 'main')).toBe(main)
      }
      days.back(main)
    }
    expect(refused).toBeGreaterThan(STEPS / HISTORIES / 2)
  },
  600_000,
)
