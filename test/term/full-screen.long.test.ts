import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { actOnReview, openReview, readReviewDraft } from '../../src/flow/review/open-review.ts'
import { openWorld } from '../../src/flow/world.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { hasTmux, openPane, reviewLine } from '../helpers/tmux.ts'

const lines = (...changed: readonly number[]): string =>
  Array.from({ length: 60 }, (_, i) => `${i + 1}${changed.includes(i + 1) ? ' new' : ''}\n`).join('')
const files = { 'a.txt': lines(), 'b.txt': 'b\n' }
const edits = [
  { op: 'write', path: 'a.txt', content: lines(2, 20, 23, 40, 55) },
  { op: 'write', path: 'b.txt', content: 'B\n' },
]

const staged = async (repo: TestRepo, list: readonly object[] = edits) => {
  await using galley = await openGalley(repo)
  return (await galley.propose({ batch: batch(list) })).change
}
const draftOf = async (repo: TestRepo, id: string) => {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  try {
    return await readReviewDraft(world, id)
  } finally {
    await world.close()
  }
}
describe.skipIf(!hasTmux)('the full screen at a terminal (needs tmux)', () => {
  test('reviews by keys alone: two hunks rejected, one edited, a comment left; exactly the rest lands', async () => {
    using repo = makeRepo({ files })
    const { id } = await staged(repo)
    const editor = join(repo.home, 'editor.sh')
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/40 new/40 by hand/" "$1"\n', { mode: 0o755 })
    using pane = openPane(repo, reviewLine(), { env: { EDITOR: editor } })
    await pane.shows('0 of 5 decided')
    pane.type('y')
    await pane.shows('1 of 5 decided')
    pane.type('s')
    await pane.shows('1 of 6 decided')
    pane.type('y')
    await pane.shows('2 of 6 decided')
    pane.type('nnot this line<Enter>')
    await pane.shows('3 of 6 decided')
    pane.type('e')
    await pane.shows('4 of 6 decided')
    pane.type('cwhy this?<Enter>')
    await pane.shows('┌ you: why this? (draft)')
    pane.type('y')
    await pane.shows('5 of 6 decided')
    pane.type('n<Enter>')
    await pane.shows('6 of 6 decided')
    pane.type('f')
    await pane.shows('3 accepted · 1 edited · 2 rejected · 0 undecided · 1 comments')
    pane.type('l')
    await pane.shows('same terminal')
    expect(repo.read('a.txt')).toBe(lines(2, 20, 40, 55).replace('40 new', '40 by hand'))
    expect(repo.read('b.txt')).toBe('b\n')
    expect(repo.git('status', '--porcelain')).toBe('')
    await using galley = await openGalley(repo)
    const { change } = await galley.show(id)
    expect(change).toMatchObject({ state: 'landed', revision: 2, approvals: [{ via: 'terminal' }] })
    expect(change.comments.map(({ text, rejects, edits: e }) => [text, rejects ?? e ?? false])).toEqual([
      ['why this?', false],
      ['not this line', true],
      ['', true],
      ['', true],
    ])
  })

  const prompts = [
    ['a hunk', '', 'y accept'],
    ['a reason', 'nbecause', 'why not? (may be empty): because'],
    ['a comment', 'chalf a word', 'comment: half a word'],
    ['a search', '/new', 'search: new'],
    ['the keys', '?', 'take the last decision back'],
    ['the last question', 'f', 'go on reviewing'],
  ] as const

  /** What stands at the top of longer pages: the rest may be below. */
  const top: Readonly<Record<string, string>> = { f: 'Finish the review', '?': 'accept, reject this hunk' }

  test.each(prompts)('is drawn anew for another size at %s', async (_, typed, words) => {
    using repo = makeRepo({ files })
    await staged(repo)
    using pane = openPane(repo, reviewLine())
    await pane.shows('0 of 5 decided')
    pane.type(typed)
    await pane.shows(words)
    for (const [columns, rows] of [
      [60, 24],
      [140, 40],
      [79, 12],
      [100, 30],
    ] as const) {
      pane.resize(columns, rows)
      const screen = await pane.shows(new RegExp(`^─{${columns}}$[^]*^─{${columns}}$`, 'm'))
      expect(screen).toContain(top[typed] ?? words.slice(0, 24))
      expect(screen.split('\n').every((row) => row.length <= columns)).toBe(true)
    }
  })

  const ends = [
    ['Ctrl-C', 'code 0'],
    ['SIGTERM', 'code 143'],
    ['a closed terminal', null],
  ] as const

  test.each(
    prompts.flatMap(([where, typed, words]) =>
      ends.map(([how, code]) => [how, where, typed, words, code] as const),
    ),
  )(
    '%s at %s leaves all as before and the terminal sane; what was typed is kept',
    async (how, _, typed, words, code) => {
      using repo = makeRepo({ files })
      const { id } = await staged(repo)
      const before = repo.snapshot()
      using pane = openPane(repo, reviewLine())
      await pane.shows('0 of 5 decided')
      pane.type('y')
      await pane.shows('1 of 5 decided')
      pane.type(typed)
      await pane.shows(words)
      if (code === null) pane.hangUp()
      else if (how === 'Ctrl-C') pane.type('<C-c>')
      else process.kill(childOf(Number(pane.ask('pane_pid'))), 'SIGTERM')
      if (code !== null) {
        const screen = await pane.shows('same terminal')
        expect(screen).toContain(code)
        expect([pane.ask('alternate_on'), pane.ask('cursor_flag')]).toEqual(['0', '1'])
      }
      const draft = await eventually(
        () => draftOf(repo, id),
        ({ decided }) => decided.length === 1,
      )
      expect(draft.typing.map(({ text }) => text)).toEqual(
        typed.length > 3 && !typed.startsWith('/') ? [typed.slice(1)] : [],
      )
      expect(repo.snapshot()).toEqual(before)
    },
  )

  test('goes on where it was left, and shows what another view decides meanwhile', async () => {
    using repo = makeRepo({ files })
    const { id } = await staged(repo)
    using pane = openPane(repo, reviewLine(id))
    await pane.shows('0 of 5 decided')
    pane.type('yq')
    await pane.shows('same terminal')
    using again = openPane(repo, reviewLine(id))
    await again.shows('1 of 5 decided')
    const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
    const { pieces } = await openReview(world, id)
    const keys = [pieces[2]?.key ?? '']
    await actOnReview(world, id, [
      { kind: 'decide', revision: 1, keys, decision: { kind: 'rejected', reason: 'no' }, via: 'web' },
    ])
    await world.close()
    await again.shows('A hunk was decided in another view.')
    await again.shows('✗ rejected in the browser: no')
    again.type('y')
    await again.shows('3 of 5 decided')
    const all = await eventually(
      () => draftOf(repo, id),
      ({ decided }) => decided.length === 3,
    )
    expect(all.decided).toHaveLength(3)
  })

  test('says that a revision came, keeps what stands, and shows the difference', async () => {
    using repo = makeRepo({ files })
    const { id } = await staged(repo)
    using pane = openPane(repo, reviewLine(id))
    await pane.shows('0 of 5 decided')
    pane.type('yychalf')
    await pane.shows('comment: half')
    await using galley = await openGalley(repo)
    const [, other] = edits
    const next = [{ op: 'write', path: 'a.txt', content: lines(2, 20, 24, 40, 55) }, other ?? {}]
    await galley.propose({ batch: batch(next), revise: id })
    await pane.shows('Revision 2: 1 of your 2 decisions stand')
    await pane.shows('comment: half')
    pane.type('<Enter>d')
    const screen = await pane.shows('difference to revision 1')
    expect(screen).toContain('+ 24 new')
    expect(screen).not.toContain('+ 40 new')
  })

  test('wide, combining and joined characters stand whole and in their columns', async () => {
    using repo = makeRepo({ files: { '日本語.txt': 'x\n' } })
    const text = '日本語 é 한국어 ก็ 🎉 ｆｕｌｌ END'
    await staged(repo, [{ op: 'write', path: '日本語.txt', content: `${text}\n${'漢'.repeat(80)}\n` }])
    for (const columns of [60, 61, 100, 101]) {
      using pane = openPane(repo, reviewLine(), { columns })
      const screen = await pane.shows('END')
      expect(screen).toContain(text)
      const rows = screen.split('\n')
      expect(rows.find((row) => row.includes('漢漢'))?.trimEnd()).toMatch(/漢 ?›$/)
      expect(rows.filter((row) => row.includes('│')).length).toBe(columns < 80 ? 0 : 24)
      pane.type('q')
      await pane.shows('same terminal')
    }
  })

  /** The shell's child. */
  const childOf = (pid: number): number => {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return Number(children[0])
  }
  const eventually = async <T>(look: () => Promise<T>, isIt: (value: T) => boolean): Promise<T> => {
    const end = performance.now() + 10_000
    for (;;) {
      const value = await look()
      if (isIt(value) || performance.now() > end) return value
    }
  }
})
