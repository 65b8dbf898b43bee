import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { translateDiff } from '../../src/dialects/unified-diff.ts'
import { blobOf } from './in-memory.ts'
import { context, editsOf } from './translation.ts'
import { applyToTree, type Tree, type TreeFile, treeValues } from './tree.ts'

const home = mkdtempSync(join(tmpdir(), 'galley-diff-'))
const repository = join(home, 'repository.git')

afterAll(() => rmSync(home, { recursive: true, force: true }))

/** git without anything of the person's own: no configuration, no hooks, fixed names. */
const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

function git(directory: string, args: readonly string[], input?: Uint8Array): Buffer {
  return execFileSync('git', args, {
    cwd: directory,
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input === undefined ? {} : { input }),
  })
}

git(home, ['init', '-q', '--bare', repository])

/** Commits pairs of trees in one `fast-import`: pair n of a set is the branches <set>/a-n and <set>/b-n. */
function importPairs(set: string, pairs: readonly (readonly [Tree, Tree])[]): void {
  const parts: Buffer[] = []
  const commit = (ref: string, tree: Tree) => {
    parts.push(Buffer.from(`commit refs/heads/${ref}\ncommitter t <t> 1 +0000\ndata 0\ndeleteall\n`))
    for (const [path, { bytes, executable }] of tree) {
      const name = JSON.stringify(path)
      parts.push(
        Buffer.from(`M ${executable ? 100755 : 100644} inline ${name}\ndata ${bytes.length}\n`),
        Buffer.from(bytes),
      )
      parts.push(Buffer.from('\n'))
    }
  }
  pairs.forEach(([before, after], n) => {
    commit(`${set}/a-${n}`, before)
    commit(`${set}/b-${n}`, after)
  })
  git(repository, ['fast-import', '--quiet', '--force'], Buffer.concat(parts))
}

const diffOf = (set: string, n: number, options: readonly string[]): Buffer =>
  git(repository, ['diff', ...options, `${set}/a-${n}`, `${set}/b-${n}`])

const batchOf = (diff: Uint8Array, more: object = {}) => ({
  version: 1,
  title: 'test',
  edits: [{ op: 'diff', text: Buffer.from(diff).toString('base64'), encoding: 'base64', strip: 1, ...more }],
})

const word = fc.constantFrom(
  'a',
  'b',
  'c',
  'dd',
  '',
  ' x',
  '\ty',
  '- z',
  '+ z',
  '@@ -1 +1 @@',
  '\\ No newline',
  'é',
  'f\r',
  '-- ',
)
const latin1 = fc.constantFrom(Buffer.from([0xe9]), Buffer.from([0xff, 0x41]))
const line = fc.oneof({ weight: 9, arbitrary: word.map((text) => Buffer.from(text)) }, latin1)
const joined = (lines: readonly Uint8Array[], end: string) =>
  Buffer.concat(lines.flatMap((text, n) => [text, Buffer.from(n < lines.length - 1 ? '\n' : end)]))
const text = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('\n', '\n', ''))
  .map(([lines, end]) => joined(lines, end))
/** Lines that end in CR alone: the engine takes each for a line, and git does not. */
const isOldMac = (bytes: Uint8Array) => bytes.includes(0x0d) && !bytes.includes(0x0a)
const binary = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.concat([Buffer.from([0]), bytes]))
const large = fc
  .nat(255)
  .map((seed) =>
    Buffer.from(Uint8Array.from({ length: 3000 }, (_, n) => (n * 7 + (n > 2000 ? seed : 0)) % 256)),
  )
const content = fc.oneof({ weight: 8, arbitrary: text }, binary)
const file: fc.Arbitrary<TreeFile> = fc.record({
  bytes: content.filter(
    (bytes) => !Buffer.from(bytes).toString('latin1').startsWith('version https://git-lfs'),
  ),
  executable: fc.boolean(),
})
const part = fc.constantFrom('a', 'b', 'c d', 'é', '"q"', 'x.ts', '-', 'b b')
const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))

/** Drops files that lie below another file. */
function treeOf(entries: readonly (readonly [string, TreeFile])[]): Tree {
  const tree = new Map<string, TreeFile>()
  for (const [name, state] of entries) {
    const isAbove = [...tree.keys()].some(
      (other) => other.startsWith(`${name}/`) || name.startsWith(`${other}/`),
    )
    if (!isAbove) tree.set(name, state)
  }
  return tree
}

const tree = fc.array(fc.tuple(path, file), { minLength: 1, maxLength: 12 }).map(treeOf)

/** What may happen to each file of a tree on the way to the next. */
const fate = fc.constantFrom(
  'keep',
  'edit',
  'edit',
  'edit',
  'delete',
  'mode',
  'rename',
  'rename-edit',
  'copy',
  'rewrite',
)

function edited(bytes: Uint8Array, at: number, added: Uint8Array): Uint8Array {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  lines.splice(at % (lines.length + 1), at % 3, Buffer.from(added).toString('latin1'))
  return Buffer.from(lines.join('\n'), 'latin1')
}

const pair = fc
  .tuple(
    tree,
    fc.array(fc.record({ fate, path, file, at: fc.nat(40), line }), { minLength: 12, maxLength: 12 }),
    fc.array(fc.tuple(path, file), { maxLength: 3 }),
  )
  .map(([before, steps, made]): readonly [Tree, Tree] => {
    const after: (readonly [string, TreeFile])[] = []
    for (const [index, [name, state]] of [...before].entries()) {
      const step = steps[index]
      if (step === undefined) continue
      const changed = { ...state, bytes: edited(state.bytes, step.at, step.line) }
      if (step.fate === 'keep' || step.fate === 'copy') after.push([name, state])
      if (step.fate === 'edit') after.push([name, changed])
      if (step.fate === 'mode') after.push([name, { ...changed, executable: !state.executable }])
      if (step.fate === 'rename' || step.fate === 'copy') after.push([step.path, state])
      if (step.fate === 'rename-edit') after.push([step.path, changed])
      if (step.fate === 'rewrite') after.push([name, step.file])
    }
    return [before, treeOf([...after, ...made])]
  })
  .filter(([before, after]) =>
    [...before.values(), ...after.values()].every((state) => !isOldMac(state.bytes)),
  )
  .filter(([before, after]) => JSON.stringify(treeValues(before)) !== JSON.stringify(treeValues(after)))

const options = fc.constantFrom<(readonly string[])[]>(
  ['--binary'],
  ['--binary', '-M'],
  ['--binary', '-M10%', '-C', '--find-copies-harder'],
  ['--binary', '-B', '-M'],
  ['--binary', '--full-index', '-M'],
  ['--binary', '-U1'],
  ['--binary', '-U0', '-M'],
  ['--binary', '--patience', '-W'],
  ['--binary', '--src-prefix=i/', '--dst-prefix=w/'],
)

const RUNS = 150

describe('diffs that git made of random trees', () => {
  const cases = fc.sample(fc.tuple(pair, options), { numRuns: RUNS, seed: 20_261_129 })
  importPairs(
    'x',
    cases.map(([trees]) => trees),
  )

  const diffs = cases.map(([, chosen], n) => diffOf('x', n, chosen))

  const expectTree = (made: ReturnType<typeof applyToTree>, expected: Tree) => {
    if (made.kind === 'refused') expect(made.failures).toEqual([])
    else expect(treeValues(made.tree)).toEqual(treeValues(expected))
  }

  test('lead from the one tree to the other', () => {
    cases.forEach(([[before, after]], n) => {
      expectTree(applyToTree(batchOf(diffs[n] ?? Buffer.alloc(0)), before), after)
    })
  })

  test('lead back with "reverse", copies aside', () => {
    cases.forEach(([[before, after], chosen], n) => {
      if (chosen.includes('-C')) return
      expectTree(applyToTree(batchOf(diffs[n] ?? Buffer.alloc(0), { reverse: true }), after), before)
    })
  })

  test('in the form of a mail lead there too', () => {
    cases.slice(0, 12).forEach(([[before, after]], n) => {
      git(repository, ['update-ref', `refs/heads/c-${n}`, commitOn(n)])
      const mail = git(repository, ['format-patch', '--stdout', '--binary', '-1', `c-${n}`])
      expectTree(applyToTree(batchOf(mail), before), after)
    })
  })

  function commitOn(n: number): string {
    const names = ['-c', 'user.name=t', '-c', 'user.email=t@t']
    const args = [
      ...names,
      'commit-tree',
      `x/b-${n}^{tree}`,
      '-p',
      `x/a-${n}`,
      '-m',
      '- a list\n+ in a message',
    ]
    return git(repository, args).toString('utf8').trim()
  }
})

/** Applies git's delta: two lengths, then copies from the old content and insertions. */
function patched(old: Uint8Array, delta: Uint8Array): Buffer {
  let at = 0
  const length = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = delta[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  expect(length()).toBe(old.length)
  const size = length()
  const parts: Uint8Array[] = []
  const number = (command: number, bits: readonly number[]) =>
    bits.reduce((sum, bit, n) => sum + ((command & bit) === 0 ? 0 : (delta[at++] ?? 0) * 256 ** n), 0)
  while (at < delta.length) {
    const command = delta[at++] ?? 0
    if (command < 0x80) {
      parts.push(delta.subarray(at, at + command))
      at += command
    } else {
      const offset = number(command, [1, 2, 4, 8])
      const count = number(command, [16, 32, 64]) || 0x10000
      parts.push(old.subarray(offset, offset + count))
    }
  }
  const made = Buffer.concat(parts)
  expect(made.length).toBe(size)
  return made
}

describe('binary patches that git made of large files', () => {
  const cases = fc.sample(fc.tuple(large, large), { numRuns: 8, seed: 5 }).filter(([a, b]) => !a.equals(b))
  const treeWith = (bytes: Uint8Array): Tree => new Map([['f', { bytes, executable: false }]])
  importPairs(
    'z',
    cases.map(([a, b]) => [treeWith(a), treeWith(b)]),
  )

  test('hold a delta each way that leads to the other content', () => {
    cases.forEach(([before, after], n) => {
      const text = diffOf('z', n, ['--binary']).toString('utf8')
      for (const [reverse, from, to] of [
        [false, before, after],
        [true, after, before],
      ] as const) {
        const [edit] = editsOf(translateDiff({ op: 'diff', text, reverse }, context))
        expect(edit).toMatchObject({ op: 'delta', blob: blobOf(from) })
        if (edit?.op === 'delta') expect(patched(from, edit.delta)).toEqual(to)
      }
    })
  })
})

/** Writes a tree, runs `git apply` on it, and reads it again; null = git refused. */
function gitApply(before: Tree, diff: Uint8Array, args: readonly string[]): Tree | null {
  const directory = mkdtempSync(join(home, 'tree-'))
  for (const [name, { bytes, executable }] of before) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), bytes, { mode: executable ? 0o755 : 0o644 })
  }
  const result = spawnSync('git', ['apply', '--whitespace=nowarn', ...args, '-'], {
    cwd: directory,
    env: { ...environment, GIT_CEILING_DIRECTORIES: home },
    input: diff,
  })
  const after = new Map<string, TreeFile>()
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const full = join(entry.parentPath, entry.name)
    const executable = (statSync(full).mode & 0o100) !== 0
    after.set(relative(directory, full), { bytes: readFileSync(full), executable })
  }
  rmSync(directory, { recursive: true, force: true })
  return result.status === 0 ? after : null
}

describe('diffs that were made of another version of a file', () => {
  // Lines that differ, but for a few: where several places are alike, git takes the nearest and galley refuses.
  const numbered = fc.array(fc.nat(60), { minLength: 8, maxLength: 40 })
  const version = (numbers: readonly number[]) => {
    const bytes = Buffer.from(numbers.map((n, index) => `${n % 9 === 0 ? '' : index}${n}\n`).join(''))
    return new Map([['f', { bytes, executable: false }]])
  }
  const change = fc.record({ at: fc.nat(40), line })
  const drifted = fc.record({
    numbers: numbered,
    edits: fc.array(change, { minLength: 1, maxLength: 3 }),
    drifts: fc.array(change, { minLength: 1, maxLength: 2 }),
    context: fc.constantFrom('-U1', '-U2', '-U3'),
  })
  const all = (tree: Tree, changes: readonly { readonly at: number; readonly line: Uint8Array }[]): Tree => {
    const state = tree.get('f')
    const bytes = changes.reduce(
      (before, { at, line: added }) => edited(before, at, added),
      state?.bytes ?? new Uint8Array(),
    )
    return new Map([['f', { bytes, executable: false }]])
  }
  const cases = fc.sample(drifted, { numRuns: 80, seed: 7 }).map(({ numbers, edits, drifts, context }) => {
    const before = version(numbers)
    return { before, after: all(before, edits), other: all(before, drifts), context }
  })
  importPairs(
    'y',
    cases.map(({ before, after }) => [before, after]),
  )

  test('are applied as git applies them, or refused', () => {
    const both = cases.filter(({ other, context }, n) => {
      const diff = diffOf('y', n, [context])
      const theirs = gitApply(other, diff, [])
      const ours = applyToTree(batchOf(diff), other)
      if (ours.kind === 'refused' || theirs === null) return false
      expect(treeValues(ours.tree)).toEqual(treeValues(theirs))
      return true
    })
    // Otherwise the comparison would say nothing.
    expect(both.length).toBeGreaterThan(20)
  })
})
