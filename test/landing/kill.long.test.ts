import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { landCommit } from '../../src/landing/land-commit.ts'
import {
  bundleLanding,
  copyScene,
  ended,
  recoverAndCheck,
  type Scene,
  setScene,
  startLanding,
} from './kill-harness.ts'
import { stageChange } from './stage-change.ts'

const FILES = {
  'a.txt': 'a\n',
  'deep/er/b.txt': 'b\n',
  'gone/c.txt': 'c\n',
  'swap/inner.txt': 'i\n',
  flat: 'f\n',
}
const CHANGES = {
  'a.txt': 'A\n',
  'deep/er/b.txt': { content: 'B\n', executable: true },
  'gone/c.txt': null,
  'new/dir/d.txt': 'D\n',
  'swap/inner.txt': null,
  swap: 'a file now\n',
  flat: null,
  'flat/inner.txt': 'a directory now\n',
}

let program = ''
let removeProgram: () => void = () => undefined
let scene: Scene

beforeAll(async () => {
  const bundled = await bundleLanding()
  program = bundled.program
  removeProgram = bundled.remove
  scene = await setScene(FILES, CHANGES)
})

afterAll(() => {
  removeProgram()
  scene.repo[Symbol.dispose]()
})

/** The steps of this very landing, found by making it. */
async function pointsOf(): Promise<readonly string[]> {
  using copy = copyScene(scene)
  const points: string[] = []
  const request = await stageChange(copy.repo, CHANGES)
  await landCommit({ ...request, reach: (point) => void points.push(point) })
  // Of the steps that come once for each file, the first and the last of each kind.
  const [first, last] = [/^(?:moved-away|placed)-[05]$/, /^(?:moved-away-1|placed-6)$/]
  return points.filter((point) => !/\d$/.test(point) || first.test(point) || last.test(point))
}

describe('a landing that is killed', () => {
  test('is all there or all undone after the next command, whatever step it was killed at', async () => {
    const points = await pointsOf()
    expect(points).toEqual(
      expect.arrayContaining(['planned', 'journaled', 'moved-away-0', 'placed-5', 'committed', 'unlocked']),
    )
    const outcomes = new Map<string, string>()
    for (const point of points) {
      using copy = copyScene(scene)
      const end = await ended(startLanding(program, copy, point))
      expect(end).toMatchObject({ signal: 'SIGKILL', said: 'ready\n' })
      outcomes.set(
        point,
        await recoverAndCheck(copy).catch((cause: unknown) =>
          Promise.reject(new Error(`killed at ${point}`, { cause })),
        ),
      )
    }
    const decided = points.indexOf('committed')
    expect([...outcomes.values()]).toEqual(points.map((_, i) => (i < decided ? 'old' : 'new')))
  })
})
