import { describe, expect, test } from 'vitest'
import { type ConformanceCase, conformanceCases, filesOf, root } from './in-memory.ts'
import { type Applied, applyToTree, type Tree, treeValues } from './tree.ts'

interface Outcome {
  readonly files?: Readonly<Record<string, string | null>>
  readonly files_b64?: Readonly<Record<string, string>>
  readonly modes?: Readonly<Record<string, string>>
  readonly refuse?: string
}

interface Row extends ConformanceCase {
  readonly modes?: Readonly<Record<string, string>>
  readonly expect: Outcome
  readonly also_ok?: readonly Outcome[]
}

/** Cases that are not played here, each with its reason. */
const notPlayed: Readonly<Record<string, string>> = {
  'ci-zero-before': 'an insert of Cline in a form that no adapter has',
  'ci-eof': 'an insert of Cline in a form that no adapter has; see file-tools.test.ts for inserts',
  'ci-crlf': 'an insert of Cline in a form that no adapter has',
  'cc-create-no-text': 'no batch; see file-tools.test.ts',
  'cu-undo-last': 'undo is a change of its own',
  'cu-undo-two': 'undo is a change of its own',
  'cl-diff-truncated': 'a preview',
  'bug-eofnl-glue': 'no batch; an append of galley itself',
  'bug-attr-temp-left': 'needs a disk',
  'bug-race-stale-write': 'needs a session',
  'bug-race-alias-lock': 'needs a disk',
  'ud-text-patch-on-link': "links are the work tree's",
  'ud-escape-existing-link': "links are the work tree's",
  'ud-escape-read-behind-link': "links are the work tree's",
  'bug-attr-symlink-replaced': "links are the work tree's",
  'bug-attr-mode-widened': "other permissions than executable are the work tree's",
  'bug-attr-temp-guessable': 'needs a disk',
  'bug-sec-dangling-link': "links are the work tree's",
  'bug-sec-link-to-dir': "links are the work tree's",
  'bug-sec-final-link': "links are the work tree's",
}

const families = ['codex-apply-patch', 'search-replace', 'unified-diff', 'bugs'] as const

/** The batch with the root's path put where the case says `<ROOT>`. */
const batchOf = (row: Row): unknown => JSON.parse(JSON.stringify(row.batch).replaceAll('<ROOT>', () => root))

const isExecutable = (mode: string | undefined) => mode === '100755'

const treeOf = (row: Row): Tree =>
  new Map(
    Object.entries(filesOf(row)).map(([path, content]) => [
      path,
      { bytes: Buffer.from(content), executable: isExecutable(row.modes?.[path]) },
    ]),
  )

/** Whether an ending is the one said: these files, every other one unchanged. */
function isAsSaid(row: Row, said: Outcome, ending: Applied): boolean {
  if (said.refuse !== undefined) return ending.kind === 'refused'
  if (ending.kind === 'refused') return false
  const expected = new Map(treeOf(row))
  const put = (path: string, bytes: Uint8Array | null) => {
    if (bytes === null) expected.delete(path)
    else expected.set(path, { bytes, executable: expected.get(path)?.executable ?? false })
  }
  for (const [path, text] of Object.entries(said.files ?? {}))
    put(path, text === null ? null : Buffer.from(text))
  for (const [path, text] of Object.entries(said.files_b64 ?? {})) put(path, Buffer.from(text, 'base64'))
  for (const [path, mode] of Object.entries(said.modes ?? {})) {
    const file = expected.get(path)
    if (file !== undefined) expected.set(path, { ...file, executable: isExecutable(mode) })
  }
  return JSON.stringify(treeValues(expected)) === JSON.stringify(treeValues(ending.tree))
}

const shownEnding = (ending: Applied): string =>
  JSON.stringify(ending.kind === 'refused' ? ending.failures : treeValues(ending.tree))

describe.each(families)('conformance cases of %s', (family) => {
  const cases = conformanceCases(family) as readonly Row[]
  const played = cases.filter(({ id }) => !(id in notPlayed)).filter(({ batch }) => batch !== undefined)

  test('every case is played, has a reason why not, or is a sequence of whole commands', () => {
    const isWhole = ({ request }: Row) => typeof request === 'object' && request !== null && 'do' in request
    const rest = cases.filter((row) => !played.includes(row) && !(row.id in notPlayed) && !isWhole(row))
    expect(rest.map(({ id }) => id)).toEqual([])
  })

  test.each(played)('$id', (row) => {
    const ending = applyToTree(batchOf(row), treeOf(row))
    const allowed = [row.expect, ...(row.also_ok ?? [])]
    expect(
      allowed.some((said) => isAsSaid(row, said, ending)),
      shownEnding(ending),
    ).toBe(true)
  })
})
