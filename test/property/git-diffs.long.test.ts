import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { unquoteName } from '../../src/dialects/quoted-path.ts'
import { applyToTree, type Tree, treeValues } from '../dialects/tree.ts'
import { gitRuns, seedOf } from '../helpers/runs.ts'
import { GitPairs } from './git-pairs.ts'
import { optionSets, pair } from './trees.ts'

/** Seeds whose trees once came out wrong are run again each time. */
const kept: readonly number[] = [20_261_129, 97_779_071]
const seeds = [...kept, seedOf(5)]

const git = new GitPairs()
afterAll(() => git[Symbol.dispose]())

const batchOf = (diff: Uint8Array, more: object = {}) => ({
  version: 1,
  title: 'test',
  edits: [{ op: 'diff', text: Buffer.from(diff).toString('base64'), encoding: 'base64', strip: 1, ...more }],
})

interface Case {
  readonly before: Tree
  readonly after: Tree
  readonly options: readonly string[]
  readonly diff: Buffer
}

/** Trees at random with git's diffs of them; one process a set of options. */
function casesOf(set: string, seed: number, count: number): readonly Case[] {
  const pairs = fc.sample(pair, { numRuns: count, seed })
  git.importTrees(
    `${set}-a`,
    pairs.map(([before]) => before),
  )
  git.importTrees(
    `${set}-b`,
    pairs.map(([, after]) => after),
  )
  return optionSets.flatMap((options, which) => {
    const numbers = pairs.flatMap((_, n) => (n % optionSets.length === which ? [n] : []))
    const diffs = git.diffs([`${set}-a`, `${set}-b`], numbers, options)
    return numbers.flatMap((n, index): Case[] => {
      const [before, after] = pairs[n] ?? []
      const diff = diffs[index]
      if (before === undefined || after === undefined || diff === undefined) return []
      return [{ before, after, options, diff }]
    })
  })
}

/**
 * Renames onto a file that the diff says nothing of: `-B -M` makes them where a file was rewritten beyond likeness by
 * the move of another. What stood there is in no section, so that such a diff cannot be applied (git refuses it, too)
 * nor taken back.
 */
function overwritesUnsaid({ diff, before }: Case): boolean {
  const lines = diff.toString('latin1').split('\n')
  const named = (start: string): readonly string[] =>
    lines.filter((line) => line.startsWith(start)).map((line) => nameIn(line.slice(start.length)))
  const gone = [...named('rename from '), ...lines.flatMap((line, at) => deleted(line, lines[at + 1]))]
  return named('rename to ').some((to) => before.has(to) && !gone.includes(to))
}

const nameIn = (text: string): string => nameOf(unquoteName(text, 0)?.name ?? text)
const nameOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

/** The name of the section that begins here, if it deletes its file. */
function deleted(line: string, next: string | undefined): readonly string[] {
  if (!line.startsWith('diff --git ') || next?.startsWith('deleted file ') !== true) return []
  const names = line.slice('diff --git '.length)
  // Both names are the same but for their prefixes, so that the first is half of the line.
  return [nameIn(names.slice(0, (names.length - 1) / 2)).slice('a/'.length)]
}

function expectTree(made: ReturnType<typeof applyToTree>, expected: Tree, each: Case): void {
  const shown = `git diff ${each.options.join(' ')}\n${each.diff.toString('latin1')}`
  if (made.kind === 'refused') expect(made.failures, shown).toEqual([])
  else expect(treeValues(made.tree), shown).toEqual(treeValues(expected))
}

describe.each(seeds)('diffs that git made of random trees (seed %i)', (seed) => {
  const cases = casesOf(`s${seed}`, seed, gitRuns(100))

  test('lead from the one tree to the other', () => {
    for (const each of cases) {
      const made = applyToTree(batchOf(each.diff), each.before)
      if (overwritesUnsaid(each))
        expect(made).toMatchObject({ kind: 'refused', failures: [{ code: 'exists' }] })
      else expectTree(made, each.after, each)
    }
  })

  test('lead back with "reverse", copies aside', () => {
    for (const each of cases) {
      if (each.options.includes('-C') || overwritesUnsaid(each)) continue
      expectTree(applyToTree(batchOf(each.diff, { reverse: true }), each.after), each.before, each)
    }
  })

  test('lead there in the form of a mail, too', () => {
    for (const each of cases.slice(0, 40).filter((some) => !overwritesUnsaid(some))) {
      const mail = `From 0000 Mon Sep 17 00:00:00 2001\nSubject: x\n\n- a list\n+ in a message\n---\n a | 2 +-\n\n`
      const diff = Buffer.concat([Buffer.from(mail), each.diff, Buffer.from('-- \n2.39.5\n\n')])
      expectTree(applyToTree(batchOf(diff), each.before), each.after, each)
    }
  })
})

describe('a diff of two steps', () => {
  const at = (bytes: Buffer): Tree => new Map([['f', { bytes, executable: false }]])
  const large = (seed: number) =>
    Buffer.from(Uint8Array.from({ length: 3000 }, (_, n) => (n * 7 + (n > 2000 ? seed : 0)) % 256))
  const versions = [large(1), large(2), Buffer.from('text\n'), large(3)].map(at)
  git.importTrees('steps', versions)
  const step = (n: number): Buffer =>
    git.git(['diff', '--binary', `refs/heads/steps-${n}`, `refs/heads/steps-${n + 1}`])

  test('for one binary file is taken in turn, each step by the bytes that the one before left', () => {
    const whole = Buffer.concat([step(0), step(1), step(2)])
    const [first = new Map(), , , last = new Map()] = versions
    expect(treeOf(applyToTree(batchOf(whole), first))).toEqual(treeValues(last))
    expect(treeOf(applyToTree(batchOf(whole, { reverse: true }), last))).toEqual(treeValues(first))
  })

  test('that do not follow one another is stale', () => {
    const [first = new Map()] = versions
    const made = applyToTree(batchOf(Buffer.concat([step(0), step(2)])), first)
    expect(made).toMatchObject({ kind: 'refused', failures: [{ code: 'stale-read' }] })
  })

  const treeOf = (made: ReturnType<typeof applyToTree>) =>
    made.kind === 'tree' ? treeValues(made.tree) : made.failures
})
