import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openLiveLine } from '../../src/cli/live-line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const terminal = (isTTY: boolean, env: Readonly<Record<string, string>> = {}) => {
  const written: string[] = []
  const stderr = { isTTY, columns: 30, write: (text: string) => void written.push(text) }
  return { live: openLiveLine({ stderr: stderr as unknown as NodeJS.WriteStream, env }), written }
}

test('says what takes longer than a second, how far it is and for how long, and leaves nothing behind', () => {
  const { live, written } = terminal(true)
  live.show('check types (1 of 2)')
  vi.advanceTimersByTime(900)
  expect(written).toEqual([])
  vi.advanceTimersByTime(2200)
  expect(written).toEqual(
    [
      '\r\u001b[Kgalley: check types (1 of 2)',
      '\r\u001b[Kgalley: check types (1 of 2)',
      '\r\u001b[Kgalley: check types (1 of 2)',
    ].map((line, i) => (i === 0 ? line : `${line} (${i + 1} s)`.slice(0, 4 + 29))),
  )
  live.show('verifying 7')
  live.show('')
  expect(written.slice(-2)).toEqual(['\r\u001b[Kgalley: verifying 7', '\r\u001b[K'])
  vi.advanceTimersByTime(5000)
  expect(written).toHaveLength(5)
})

test('keeps what a name holds from the terminal', () => {
  const { live, written } = terminal(true)
  live.show('check \u001b[2J')
  vi.advanceTimersByTime(1000)
  expect(written[0]?.slice(4)).not.toContain('\u001b')
})

test.each([
  ['where nobody looks', terminal(false)],
  ['at a terminal that cannot write over a line', terminal(true, { TERM: 'dumb' })],
])('says nothing %s', (_, { live, written }) => {
  live.show('check types')
  vi.advanceTimersByTime(5000)
  expect(written).toEqual([])
})
