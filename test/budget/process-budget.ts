import { expect } from 'vitest'
import { countGits } from '../helpers/count-gits.ts'
import { makeRepo } from '../helpers/repo.ts'

/**
 * Every process of git, its own children too, that a verb on ten files costs: exact, and the same whatever the number of files. One
 * that is saved is saved here for good; one more needs a reason.
 */
const BUDGET = {
  propose: 8,
  approve: 7,
  land: 16,
  status: 2,
  log: 2,
  show: 3,
  undo: 26,
  apply: 24,
  capture: 10,
}

/** What each verb costs in a repository of `count` files, the second time round: the store is there then. */
export async function expectBudget(count: number): Promise<void> {
  const pathOf = pathIn(count)
  const files: Record<string, string> = {}
  for (let i = 0; i < count; i++) files[pathOf(i)] = `first ${i}\nsecond\nthird\n`
  using repo = makeRepo({ files })
  const run = countGits(repo)
  await run(['propose', '-'], batchOf('first-time', pathOf))
  const costs: Record<string, readonly string[]> = {}
  const measure = async (verb: keyof typeof BUDGET, args: readonly string[], input?: string) => {
    const { code, stderr, gits } = await run(args, input)
    expect(`${verb} ${code} ${code === 0 ? '' : stderr}`).toBe(`${verb} 0 `)
    costs[verb] = gits
  }
  await measure('propose', ['propose', '-'], batchOf('second', pathOf))
  await measure('approve', ['approve', '--last'])
  await measure('land', ['land', '--last'])
  await measure('status', ['status'])
  await measure('log', ['log'])
  await measure('show', ['show', '--last'])
  await measure('undo', ['undo', '--last', '--yes'])
  await measure('apply', ['apply', '--yes', '-'], batchOf('applied', pathOf))
  for (let i = 0; i < 10; i++) repo.write(pathOf(i), `first ${i}\nby hand\nthird\n`)
  await measure('capture', ['capture'])
  expect(Object.fromEntries(Object.entries(costs).map(([verb, gits]) => [verb, gits.length]))).toEqual(BUDGET)
}

/** Ten files in each folder, whatever the number: where those touched hold more than 500, git makes the scratch tree, with four processes more. */
const pathIn = (count: number) => (i: number) => `d${i % 10}/e${i % (count / 10)}/f${i}.txt`

function batchOf(word: string, pathOf: (i: number) => string): string {
  const edits = Array.from({ length: 10 }, (_, i) => ({
    op: 'replace',
    path: pathOf(i),
    old: 'third\n',
    new: `third\n${word}\n`,
  }))
  return JSON.stringify({ version: 1, title: word, edits })
}
