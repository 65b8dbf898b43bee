import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { batch, builtProgram, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const lines = (...changed: readonly number[]): string =>
  Array.from({ length: 30 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')
const files = { 'a.txt': lines(), 'b.txt': 'b\n' }
const edits = [
  { op: 'write', path: 'a.txt', content: lines(2, 15, 28) },
  { op: 'write', path: 'b.txt', content: 'B\n' },
]

/** Runs a review at a terminal of its own (`script` makes one), and types each answer once a question stands there. */
function atTerminal(
  repo: TestRepo,
  answers: readonly string[],
  words: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly screen: string }> {
  const command = [process.execPath, builtProgram, 'review', '--plain', ...words].join(' ')
  const child = spawn('script', ['-qec', `${command}; code=$?; stty -a; exit $code`, '/dev/null'], {
    cwd: repo.dir,
    env: { ...repo.env, TERM: 'xterm', NO_COLOR: '1' },
  })
  const left = [...answers]
  let screen = ''
  let asked = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    screen += chunk
    const questions = screen.match(/(?:\?\]|empty\)|comment:|N\]) (?=$|[^\n])/g)?.length ?? 0
    while (asked < questions && left.length > 0) {
      asked++
      child.stdin.write(left.shift() ?? '')
    }
  })
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, screen }))
  })
}

const staged = async (repo: TestRepo) => {
  await using galley = await openGalley(repo)
  return (await galley.propose({ batch: batch(edits) })).change
}

describe('a review by lines at a terminal', () => {
  test('rejects one hunk with a reason, comments on another, and lands exactly the rest', async () => {
    using repo = makeRepo({ files })
    const { id } = await staged(repo)
    const { screen, code } = await atTerminal(repo, [
      'y\n',
      'n\n',
      'not now\n',
      'c\n',
      'nice\n',
      'y\n',
      'y\n',
      'l\n',
    ])
    expect(screen).toContain('3 accepted, 1 rejected, 1 commented')
    expect(code).toBe(0)
    expect([repo.read('a.txt'), repo.read('b.txt')]).toEqual([lines(2, 28), 'B\n'])
    expect(repo.git('status', '--porcelain')).toBe('')
    await using galley = await openGalley(repo)
    const { change } = await galley.show(id)
    expect(change).toMatchObject({ state: 'landed', revision: 2, approvals: [{ via: 'terminal' }] })
    expect(change.comments.map((one) => [one.text, one.rejects])).toEqual([
      ['nice', undefined],
      ['not now', true],
    ])
  })

  test.each([
    ['q at the first hunk', ['q\n'], 0],
    ['the end of input at a hunk', ['y\n', '\u0004'], 0],
    ['the end of input at a reason', ['n\n', '\u0004'], 0],
    ['the end of input at the last question', ['a\n', 'y\n', '\u0004'], 0],
    ['no answer to the last question', ['a\n', 'y\n', '\n'], 0],
    ['another answer to it', ['a\n', 'y\n', 'yes\n'], 0],
    ['Ctrl-C at a hunk', ['y\n', '\u0003'], 130],
    ['Ctrl-C at a reason', ['n\n', '\u0003'], 130],
    ['Ctrl-C at the last question', ['a\n', 'y\n', '\u0003'], 130],
  ])('%s leaves everything as it was, and the terminal sane', async (_, answers, code) => {
    using repo = makeRepo({ files })
    const before = await staged(repo)
    const snapshot = repo.snapshot()
    const ended = await atTerminal(repo, answers)
    expect(ended.code).toBe(code)
    if (code === 0) expect(ended.screen).toMatch(/ icanon .*| echo /)
    expect(repo.snapshot()).toEqual(snapshot)
    await using galley = await openGalley(repo)
    expect((await galley.show(before.id)).change).toEqual(before)
  })

  test('sends a change back with every reason', async () => {
    using repo = makeRepo({ files })
    const { id } = await staged(repo)
    const { screen } = await atTerminal(repo, ['d\n', 'no clock\n', 'n\n', '\n', 's\n'], [id])
    expect(screen).toContain('0 accepted, 4 rejected')
    await using galley = await openGalley(repo)
    const { change } = await galley.show(id)
    expect([change.state, change.comments.length]).toEqual(['rejected', 4])
  })
})
