import fc from 'fast-check'
import { type Tree, type TreeFile, treeValues } from '../dialects/tree.ts'

/** Trees at random, and what may become of them: edits, renames, copies, modes, rewrites, new and removed files. */

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
  'g\rh',
  '-- ',
)
const latin1 = fc.constantFrom(Buffer.from([0xe9]), Buffer.from([0xff, 0x41]))
export const line: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 9, arbitrary: word.map((text) => Buffer.from(text)) },
  latin1,
)
const joined = (lines: readonly Uint8Array[], ending: string, end: string) =>
  Buffer.concat(lines.flatMap((text, n) => [text, Buffer.from(n < lines.length - 1 ? ending : end)]))
const text = fc
  .tuple(
    fc.array(line, { maxLength: 20 }),
    fc.constantFrom('\n', '\n', '\n', '\r\n', '\r'),
    fc.constantFrom('\n', '\n', ''),
  )
  .map(([lines, ending, end]) => joined(lines, ending, end === '' ? '' : ending))
const binary = fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.concat([Buffer.from([0]), bytes]))
/** Alike but for their end: git makes deltas of them. */
const large = fc
  .nat(255)
  .map((seed) =>
    Buffer.from(Uint8Array.from({ length: 2000 }, (_, n) => (n * 7 + (n > 1500 ? seed : 0)) % 256)),
  )
const file: fc.Arbitrary<TreeFile> = fc.record({
  bytes: fc.oneof({ weight: 8, arbitrary: text }, binary, large),
  executable: fc.boolean(),
})
const part = fc.constantFrom('a', 'b', 'c d', 'é', '"q"', 'x.ts', '-', 'b b', "'$&", '日本')
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

const tree = fc.array(fc.tuple(path, file), { minLength: 1, maxLength: 10 }).map(treeOf)

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

/** Lines replaced by one other, from some line on. */
export function edited(bytes: Uint8Array, at: number, added: Uint8Array): Uint8Array {
  const lines = Buffer.from(bytes).toString('latin1').split('\n')
  lines.splice(at % (lines.length + 1), at % 3, Buffer.from(added).toString('latin1'))
  return Buffer.from(lines.join('\n'), 'latin1')
}

/** A tree and the one that it becomes, which differs. */
export const pair: fc.Arbitrary<readonly [Tree, Tree]> = fc
  .tuple(
    tree,
    fc.array(fc.record({ fate, path, file, at: fc.nat(40), line }), { minLength: 10, maxLength: 10 }),
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
  .filter(([before, after]) => JSON.stringify(treeValues(before)) !== JSON.stringify(treeValues(after)))

/** The options with which git made a diff. */
export const optionSets: readonly (readonly string[])[] = [
  ['--binary'],
  ['--binary', '-M'],
  ['--binary', '-M10%', '-C', '--find-copies-harder'],
  ['--binary', '-B', '-M'],
  ['--binary', '--full-index', '-M'],
  ['--binary', '-U1'],
  ['--binary', '-U0', '-M'],
  ['--binary', '--patience', '-W'],
  ['--binary', '--src-prefix=i/', '--dst-prefix=w/'],
]
