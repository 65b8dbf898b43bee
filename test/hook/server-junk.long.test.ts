import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { approveChange, guardMain } from '../flow/verify-world.ts'
import { eventsOf, feed, writeLog } from '../helpers/forge-log.ts'
import { cli, gitInput } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { asPerson, galley, makeServer } from './hook-world.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const ID = 'g000000001'
const big = (repo: TestRepo, bytes: number): string =>
  gitInput(repo, ['hash-object', '-w', '--stdin'], Buffer.alloc(bytes))
const commitOf = (repo: TestRepo, tree: string): string => repo.git('commit-tree', '-m', 'x', tree)
const treeOf = (repo: TestRepo, lines: string): string => gitInput(repo, ['mktree'], lines)

/** What anybody could try to put among galley's refs: a name, and the object that it is to hold. */
const JUNK: Readonly<Record<string, (repo: TestRepo) => readonly [ref: string, object: string]>> = {
  'the folder of logs': () => ['refs/galley/log', 'main'],
  'galley’s whole folder': () => ['refs/galley', 'main'],
  'the folder in other letters': () => ['refs/Galley/x', 'main'],
  'a change without a number': () => [`refs/galley/changes/${ID}`, 'main'],
  'a name beneath a log': () => [`refs/galley/log/${ID}/x`, 'main'],
  'no id': () => ['refs/galley/log/main', 'main'],
  'an archive': (repo) => [
    'refs/galley/archive/2026-01',
    commitOf(repo, treeOf(repo, `100644 blob ${big(repo, 300_000)}\t0.jsonl\n`)),
  ],
  'a commit of theirs as a log': () => [`refs/galley/log/${ID}`, 'main'],
  'a blob as a log': (repo) => [`refs/galley/log/${ID}`, big(repo, 10)],
  'a log with a huge event': (repo) => [
    `refs/galley/log/${ID}`,
    commitOf(repo, treeOf(repo, `100644 blob ${big(repo, 65 * 1024 * 1024)}\tevent.json\n`)),
  ],
  'a log with a huge tree': (repo) => {
    const blob = big(repo, 1)
    const lines = Array.from({ length: 40_000 }, (_, n) => `100644 blob ${blob}\tname-of-a-file-${n}\n`)
    return [`refs/galley/log/${ID}`, commitOf(repo, treeOf(repo, lines.join('')))]
  },
  'a log with a huge message': (repo) => {
    const message = 'x'.repeat(2 * 1024 * 1024)
    return [`refs/galley/log/${ID}`, gitInput(repo, ['commit-tree', '-F', '-', 'main^{tree}'], message)]
  },
  'a log of no commit that git makes': (repo) => {
    const text = `tree ${repo.git('rev-parse', 'main^{tree}')}\n\nno author\n`
    return [
      `refs/galley/log/${ID}`,
      gitInput(repo, ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], text),
    ]
  },
  'a tag as a revision': (repo) => {
    repo.git('tag', '-f', '-a', '-m', 'x', 'a-tag')
    return [`refs/galley/changes/${ID}/1`, repo.git('rev-parse', 'a-tag')]
  },
  'a commit as an approval': (repo) => [
    `refs/galley/approvals/${ID}/1/${repo.git('rev-parse', 'main').slice(0, 12)}`,
    'main',
  ],
  'a tag of two megabytes as an approval': (repo) => {
    const head = `object ${repo.git('rev-parse', 'main')}\ntype commit\ntag x\ntagger A <a@example.org> 1700000000 +0000\n\n`
    const tag = gitInput(
      repo,
      ['hash-object', '-t', 'tag', '-w', '--stdin'],
      head + 'x'.repeat(2 * 1024 * 1024),
    )
    return [`refs/galley/approvals/${ID}/1/${tag.slice(0, 12)}`, tag]
  },
}

const refsOf = (repo: TestRepo): string => repo.git('for-each-ref')

describe('a server refuses, in words and without a stack,', () => {
  test('what is none of galley’s refs, and goes on', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    const before = refsOf(server)
    for (const [what, make] of Object.entries(JUNK)) {
      const [ref, object] = make(repo)
      const { code, out } = asPerson(repo, 'push', server.dir, `${object}:${ref}`)
      expect([what, code]).toEqual([what, 1])
      expect(out, what).toMatch(/remote: galley: (forged|path-invalid): refs\//)
      expect(out, what).not.toMatch(/internal|^remote: {5}at /m)
      expect(refsOf(server), what).toBe(before)
    }
    await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin')
  })

  test('more refs at once than it looks at', () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    const line = `${'0'.repeat(40)} ${repo.git('rev-parse', 'main')} refs/galley/x\n`
    const found = cli(server, ['hook', 'pre-receive', '--json'], { input: line.repeat(10_001) })
    expect([found.code, found.json.error.code]).toEqual([1, 'too-large'])
  })

  test('an event that does not begin with a proposal, and a log that goes on with junk', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n', ...guardMain } })
    using server = makeServer(repo)
    const { id } = await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin')
    const log = `refs/galley/log/${id}`
    const tip = server.git('rev-parse', log)
    repo.git('fetch', '--quiet', 'origin', log)
    const junk = repo.git('commit-tree', '-m', 'x', '-p', tip, 'main^{tree}')
    expect(asPerson(repo, 'push', server.dir, `${junk}:${log}`).out).toMatch(/forged: .* holds no event/)
    const alone = repo.git('commit-tree', '-m', 'x', `${tip}^{tree}`)
    expect(asPerson(repo, 'push', server.dir, `${alone}:refs/galley/log/${ID}`).out).toMatch(
      /does not begin with a proposal/,
    )
    expect(server.git('rev-parse', log)).toBe(tip)
  })
})

describe('where such refs are all the same,', () => {
  test('by the hundred thousand, push and fetch go on and name a few', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    using server = makeRepo({ bare: true, name: 'server.git' })
    repo.git('remote', 'add', 'origin', server.dir)
    repo.git('push', '--quiet', 'origin', 'main')
    const head = repo.git('rev-parse', 'main')
    const number = (n: number) => `g${String(n).padStart(9, '0')}`
    const names = Array.from({ length: 60_000 }, (_, n) => [
      `refs/galley/changes/${number(n)}/1`,
      `refs/galley/log/x${n}`,
    ]).flat()
    appendFileSync(
      join(server.dir, 'packed-refs'),
      `# pack-refs with: peeled fully-peeled sorted \n${names
        .sort()
        .map((ref) => `${head} ${ref}\n`)
        .join('')}`,
    )
    await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin')
    const { code, json } = cli(repo, ['fetch', 'origin', '--json'])
    expect([code, json.changes]).toEqual([0, []])
    expect(json.dropped.length).toBe(102)
    expect(json.dropped.map((one: { reason: string }) => one.reason)).toContain(
      'the remote has no log of 59950 more changes',
    )
  })

  test('a log of a change that stands on itself is named and passed over', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    using server = makeRepo({ bare: true, name: 'server.git' })
    repo.git('remote', 'add', 'origin', server.dir)
    repo.git('push', '--quiet', 'origin', 'main')
    const { id } = await approveChange(repo, 'Two', { 'a.txt': 'two\n' })
    galley(repo, 'push', 'origin')
    const [first, ...rest] = eventsOf(server, id)
    writeLog(server, id, [{ event: { ...first?.event, stackedOn: id } }, ...rest])
    execFileSync('rm', ['-r', join(repo.dir, '.git/galley')])
    const { code, json } = cli(repo, ['fetch', 'origin', '--json'])
    expect([code, json.changes]).toEqual([0, []])
    expect(json.dropped).toMatchObject([
      { code: 'forged', reason: expect.stringContaining('stands on itself') },
    ])
    expect(feed(repo, ['cat-file', '-t', 'main'], '')).toBe('commit')
  })
})

describe('a change that was revised in two clones at once', () => {
  test('is pushed by neither, and the hint leads on: rejected here and proposed anew', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'one\n' } })
    using server = makeRepo({ bare: true, name: 'server.git' })
    repo.git('remote', 'add', 'origin', server.dir)
    repo.git('push', '--quiet', 'origin', 'main')
    const edit = (text: string) =>
      JSON.stringify({ version: 1, title: 't', edits: [{ op: 'write', path: 'a.txt', content: text }] })
    const { id } = cli(repo, ['propose', '-', '--json'], { input: edit('two\n') }).json.change
    galley(repo, 'push', 'origin')
    using other = makeRepo({})
    execFileSync('rm', ['-rf', other.dir])
    asPerson(repo, 'clone', '--quiet', server.dir, other.dir)
    galley(other, 'fetch', 'origin')
    cli(other, ['propose', '-', '--revise', id], { input: edit('theirs\n') })
    galley(other, 'push', 'origin')
    cli(repo, ['propose', '-', '--revise', id], { input: edit('ours\n') })
    const refused = cli(repo, ['push', 'origin', '--json'])
    expect(refused.json.error).toMatchObject({ code: 'branch-moved', data: { id } })
    expect(refused.json.error.hint).toContain('galley reject')
    expect(cli(repo, ['reject', id, '-m', 'proposed anew']).code).toBe(0)
    const anew = cli(repo, ['propose', '-', '--json'], { input: edit('ours, anew\n') }).json.change.id
    expect(cli(repo, ['fetch', 'origin', '--json']).code).toBe(0)
    const { code, json } = cli(repo, ['push', 'origin', '--json'])
    expect([code, json.withheld]).toEqual([0, [id]])
    expect(server.git('rev-parse', `refs/galley/log/${anew}`)).not.toBe('')
  })
})
