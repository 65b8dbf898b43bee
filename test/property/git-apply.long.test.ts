import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type DiffSection, parseDiff } from '../../src/dialects/unified-diff-parse.ts'
import type { HunkLine } from '../../src/model/edit.ts'
import type { Failure } from '../../src/model/resolution.ts'
import { type Applied, applyToTree, type Tree } from '../dialects/tree.ts'
import { gitRuns, seedOf } from '../helpers/runs.ts'
import { GitPairs, shape } from './git-pairs.ts'
import { edited, line, optionSets, pair } from './trees.ts'

/**
 * `git apply` as the oracle. A diff is put to git and to galley, on the tree that it was made of and on one that has
 * changed since. What git takes exactly, galley takes to the same tree; where the two differ, it is for a reason listed here.
 */

/** Refusals of galley where git applies, by code: why, and what must be true of the hunk that galley refuses. */
const stricter: Readonly<
  Record<string, { readonly why: string; readonly holds: (lines: readonly HunkLine[]) => boolean }>
> = {
  'ambiguous-match': {
    why: 'the old lines stand in several places, none of them where the hunk says: git takes the nearest',
    holds: (lines) => lines.some(isOld),
  },
  'stale-read': {
    why: 'the hunk has no old line, and the file is another than the diff was made of: git goes by the number alone',
    holds: (lines) => !lines.some(isOld),
  },
  'no-match': {
    why: 'the hunk says that the file ends behind its old lines, without a newline, and it goes on: git compares the text alone',
    holds: endsFile,
  },
  'already-applied': {
    why: 'the old lines are part of the new ones, and those stand there already: git adds to them once more',
    holds: newHoldsOld,
  },
}

/** Other trees than git's: the hunk names the end of the file, and its text stands before that as well. */
const other = {
  elsewhere: 'git takes the first place with the text, galley the end of the file, which the hunk names',
} as const

const isOld = ({ kind }: HunkLine): boolean => kind !== 'add'

function endsFile(lines: readonly HunkLine[]): boolean {
  return lines.findLast(isOld)?.unterminated === true
}

function newHoldsOld(lines: readonly HunkLine[]): boolean {
  const textOf = (side: readonly HunkLine[]) => side.map(({ text }) => Buffer.from(text).toString('latin1'))
  const before = textOf(lines.filter(isOld))
  const after = textOf(lines.filter(({ kind }) => kind !== 'remove'))
  return after.some((_, at) => before.every((text, n) => after[at + n] === text))
}

function sectionsOf(diff: Buffer): readonly DiffSection[] {
  const parsed = parseDiff(diff)
  return 'sections' in parsed ? parsed.sections : []
}

/** The lines of the hunk that a refusal names by its line of the diff. */
function refusedHunk(diff: Buffer, failure: Failure | undefined): readonly HunkLine[] {
  const header = Number(/\(line (\d+) of the patch\)/.exec(failure?.message ?? '')?.[1])
  const hunks = sectionsOf(diff).flatMap((section) => section.hunks)
  return hunks.find(({ line: at }) => at === header)?.lines ?? []
}

/** Whether every path that the two trees differ in has a hunk that names the end of its file. */
function differsAtTheEnd(diff: Buffer, ours: readonly string[], theirs: readonly string[]): boolean {
  const paths = ours
    .filter((each) => !theirs.includes(each))
    .map((each) => each.replace(/^\d+ [0-9a-f]+ /, ''))
  const ending = sectionsOf(diff)
    .filter(({ hunks }) => hunks.some(({ lines }) => endsFile(lines)))
    .map(({ header }) =>
      Buffer.from(header.plus ?? '', 'latin1')
        .toString('utf8')
        .slice('b/'.length),
    )
  return paths.length > 0 && paths.every((path) => ending.includes(path))
}

/** Why galley takes a diff that git refuses. */
const bolder = {
  proven:
    'a hunk with no context on one side stands where its number says, and the file is the very blob that the diff was made of: git wants --unidiff-zero for that',
  others:
    'the hunk stands in one place only: git looks for it nowhere but at an edge of the file where it has less context on one side',
} as const

const kept: readonly number[] = [7, 20_261_130, 1_106_441_472]
const seeds = [...kept, seedOf(11)]

interface Case {
  readonly n: number
  readonly options: readonly string[]
  readonly diff: Buffer
  readonly made: readonly [Tree, Tree]
  /** The tree that the diff is put to. */
  readonly tree: Tree
}

const git = new GitPairs()
afterAll(() => git[Symbol.dispose]())

const change = fc.record({ which: fc.nat(), at: fc.nat(40), line })
const asked = fc.tuple(pair, fc.array(change, { maxLength: 2 }))

/** Some of the trees have changed since: a few lines of a few files are others. */
function drifted(
  tree: Tree,
  changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
): Tree {
  const files = new Map(tree)
  const paths = [...tree.keys()]
  for (const { which, at, line: added } of changes) {
    const path = paths[which % paths.length]
    const file = path === undefined ? undefined : files.get(path)
    if (path !== undefined && file !== undefined)
      files.set(path, { ...file, bytes: edited(file.bytes, at, added) })
  }
  return files
}

function casesOf(set: string, seed: number): readonly Case[] {
  const drawn = fc.sample(asked, { numRuns: gitRuns(60), seed })
  git.importTrees(
    `${set}-a`,
    drawn.map(([[before]]) => before),
  )
  git.importTrees(
    `${set}-b`,
    drawn.map(([[, after]]) => after),
  )
  return optionSets.flatMap((options, which) => {
    const numbers = drawn.flatMap((_, n) => (n % optionSets.length === which ? [n] : []))
    const diffs = git.diffs([`${set}-a`, `${set}-b`], numbers, options)
    return numbers.flatMap((n, index): Case[] => {
      const [made, changes] = drawn[n] ?? []
      const diff = diffs[index]
      if (made === undefined || changes === undefined || diff === undefined) return []
      return [{ n, options, diff, made, tree: drifted(made[0], changes) }]
    })
  })
}

const batchOf = (diff: Uint8Array) => ({
  version: 1,
  title: 'test',
  edits: [{ op: 'diff', text: Buffer.from(diff).toString('base64'), encoding: 'base64', strip: 1 }],
})

/** What the two came to, in a word; the difference is one of those listed, or the test fails. */
function compare(each: Case, theirs: readonly string[] | null, ours: Applied): string {
  const shown = `git diff ${each.options.join(' ')}\n${each.diff.toString('latin1')}`
  if (ours.kind === 'tree') {
    if (theirs !== null) {
      if (differsAtTheEnd(each.diff, shape(ours.tree), theirs)) return 'elsewhere'
      expect(shape(ours.tree), shown).toEqual([...theirs].sort())
      return 'both'
    }
    // What git refuses must have come to what the diff was made for, where the tree is the one it was made of.
    if (each.tree === each.made[0]) expect(shape(ours.tree), shown).toEqual(shape(each.made[1]))
    return each.options.includes('-U0') ? 'proven' : 'others'
  }
  if (theirs === null) return 'neither'
  const [failure] = ours.failures
  const rule = stricter[failure?.code ?? '']
  expect(rule?.holds(refusedHunk(each.diff, failure)), `${shown}\n${JSON.stringify(ours.failures)}`).toBe(
    true,
  )
  return failure?.code ?? ''
}

describe.each(seeds)('git apply and galley (seed %i)', (seed) => {
  test('come to the same tree, but for what is listed', () => {
    const cases = casesOf(`s${seed}`, seed)
    git.readIndex(cases.map(({ tree }) => tree))
    const taken = cases.map(({ diff, options }, n) =>
      git.apply(n, diff, options.includes('-U0') ? ['--unidiff-zero'] : []),
    )
    const theirs = git.indexTrees()
    const counts = new Map<string, number>()
    cases.forEach((each, n) => {
      const ours = applyToTree(batchOf(each.diff), each.tree)
      const word = compare(each, taken[n] === true ? (theirs.get(n) ?? []) : null, ours)
      counts.set(word, (counts.get(word) ?? 0) + 1)
    })
    const known = ['both', 'neither', ...Object.keys(stricter), ...Object.keys(bolder), ...Object.keys(other)]
    expect([...counts.keys()].filter((word) => !known.includes(word))).toEqual([])
    // Otherwise the comparison would say nothing.
    expect(counts.get('both') ?? 0).toBeGreaterThan(cases.length / 4)
  })
})
