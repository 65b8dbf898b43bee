import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Galley, open } from '../../src/flow/galley.ts'
import { GalleyError } from '../../src/model/error.ts'
import type { ErrorCode } from '../../src/model/error-codes.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

/**
 * Every conformance case that is one batch, through the whole program: intake, dialect, engine, policy, staging. All cases
 * share one repository: each has a commit of its own as its base, so that no work tree has to be made.
 */
interface Case {
  readonly id: string
  readonly files: Readonly<Record<string, string>>
  readonly files_b64?: Readonly<Record<string, string>>
  readonly symlinks?: Readonly<Record<string, string>>
  readonly modes?: Readonly<Record<string, string>>
  readonly batch: object
  readonly expect: Outcome
  readonly also_ok?: readonly Outcome[]
  readonly note?: string
}

interface Outcome {
  readonly files?: Readonly<Record<string, string | null>>
  readonly files_b64?: Readonly<Record<string, string>>
  readonly refuse?: string
}

/** Rows that galley answers otherwise, each with its reason. */
const otherwise: Readonly<Record<string, string>> = {}

/** The codes that say what a kind of refusal says. A kind is a row's hint; the code is galley's word for the reason. */
const codesOf: Readonly<Record<string, readonly ErrorCode[]>> = {
  ambiguous: ['ambiguous-match'],
  bad_range: ['out-of-range'],
  bad_request: ['invalid-batch'],
  binary: ['binary'],
  empty_old: ['invalid-batch'],
  empty_request: ['empty-batch'],
  encoding: ['not-utf8'],
  exists: ['exists'],
  is_directory: ['is-directory'],
  missing_file: ['not-found'],
  missing_param: ['invalid-batch'],
  no_change: ['no-change'],
  no_match: ['no-match'],
  not_an_edit: ['unknown-tool'],
  out_of_range: ['out-of-range'],
  outside_root: ['outside-repository'],
  overlap: ['overlap'],
  parse_error: ['parse-error'],
  path_conflict: ['exists'],
  protected_path: ['path-invalid'],
  stale: ['stale-read'],
  symlink: ['symlink'],
  unsupported: ['parse-error'],
  weak_or_wrong_evidence: ['weak-evidence', 'no-match'],
}

/** Rows whose refusal has another code than their kind has, each with the reason. */
const otherCode: Readonly<Record<string, readonly [code: ErrorCode, why: string]>> = {
  'azc-only-header': ['parse-error', 'an envelope that names a file and has no hunk is cut off'],
  'bug-sec-dangling-link': ['symlink', 'no link is followed, so that where it leads is not looked at'],
  'bug-sec-link-to-dir': ['symlink', 'no link is followed, so that where it leads is not looked at'],
  'bug-sec-final-link': ['symlink', 'no link is followed, so that where it leads is not looked at'],
  'rb-empty-search': ['exists', 'an empty SEARCH makes a file, and the file is there'],
  'ud-ending-append-twice': ['already-applied', 'the lines that it adds stand there'],
  'ud-no-headers': ['parse-error', 'the missing parameter is a line of the diff'],
}

const folder = join(import.meta.dirname, '../fixtures/conformance')
const cases = readdirSync(folder)
  .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Case)
  .filter((row) => row.batch !== undefined)

let repo: TestRepo
let galley: Galley
let bases: readonly string[]

beforeAll(async () => {
  repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const marks = join(repo.home, 'marks')
  const input = Buffer.concat(cases.flatMap((row, i) => commitOf(row, i + 1)))
  execFileSync('git', ['fast-import', '--quiet', '--force', `--export-marks=${marks}`], {
    cwd: repo.dir,
    env: repo.env,
    input,
  })
  const lines = readFileSync(marks, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.slice(1).split(' '))
  const ids = new Map(lines.map(([mark, id]) => [Number(mark), id ?? '']))
  bases = cases.map((_, i) => ids.get(i + 1) ?? '')
  galley = await open(repo.dir, { env: repo.env })
})

afterAll(async () => {
  await galley.close()
  repo[Symbol.dispose]()
})

function commitOf(row: Case, mark: number): readonly Buffer[] {
  const entry = (mode: string, path: string, bytes: Buffer) => [
    Buffer.from(`M ${mode} inline "${path.replaceAll(/["\\]/g, (c) => `\\${c}`)}"\ndata ${bytes.length}\n`),
    bytes,
    Buffer.from('\n'),
  ]
  const modeOf = (path: string) => (row.modes?.[path]?.endsWith('755') ? '100755' : '100644')
  return [
    Buffer.from(
      `reset refs/cases/x\n\ncommit refs/cases/x\nmark :${mark}\ncommitter T <t@example.org> 1700000000 +0000\ndata 1\nx\n`,
    ),
    ...Object.entries(row.files).flatMap(([path, text]) => entry(modeOf(path), path, Buffer.from(text))),
    ...Object.entries(row.files_b64 ?? {}).flatMap(([path, text]) =>
      entry('100644', path, Buffer.from(text, 'base64')),
    ),
    ...Object.entries(row.symlinks ?? {}).flatMap(([path, target]) =>
      entry('120000', path, Buffer.from(target)),
    ),
    Buffer.from('\n'),
  ]
}

type Result = { readonly code: ErrorCode } | { readonly files: ReadonlyMap<string, Buffer> }

async function play(row: Case, base: string): Promise<Result> {
  const text = JSON.stringify({ ...row.batch, base }).replaceAll('<ROOT>', () => repo.dir)
  try {
    const { change } = await galley.propose({ batch: Buffer.from(text), checks: 'later' })
    const pairs = await galley.diff(change.id)
    const files = new Map<string, Buffer>()
    for (const pair of pairs) {
      if (pair.renamedFrom !== undefined) files.set(pair.renamedFrom, Buffer.from('(gone)'))
      files.set(pair.path, pair.after === null ? Buffer.from('(gone)') : Buffer.from(pair.after.bytes))
    }
    return { files }
  } catch (error) {
    if (error instanceof GalleyError) return { code: error.code }
    throw error
  }
}

/** The paths that an outcome names, and every other as it was. */
function matches(row: Case, result: Result, outcome: Outcome): boolean {
  if (outcome.refuse !== undefined) {
    const allowed = [otherCode[row.id]?.[0] ?? codesOf[outcome.refuse] ?? []].flat()
    return 'code' in result && allowed.includes(result.code)
  }
  if ('code' in result) return false
  const before = new Map([
    ...Object.entries(row.files).map(([p, t]) => [p, Buffer.from(t)] as const),
    ...Object.entries(row.files_b64 ?? {}).map(([p, t]) => [p, Buffer.from(t, 'base64')] as const),
  ])
  const wanted = new Map<string, Buffer | null>(
    Object.entries(outcome.files ?? {}).map(([p, t]) => [p, t === null ? null : Buffer.from(t)]),
  )
  for (const [path, text] of Object.entries(outcome.files_b64 ?? {}))
    wanted.set(path, Buffer.from(text, 'base64'))
  const now = (path: string): Buffer | null => {
    const changed = result.files.get(path)
    if (changed !== undefined) return changed.toString() === '(gone)' ? null : changed
    return before.get(path) ?? null
  }
  const paths = new Set([...wanted.keys(), ...result.files.keys(), ...before.keys()])
  return [...paths].every((path) => {
    const expected = wanted.has(path) ? wanted.get(path) : before.get(path)
    const found = now(path)
    return expected === null || expected === undefined
      ? found === null
      : found !== null && expected.equals(found)
  })
}

describe('conformance', () => {
  test.each(cases.map((row, i) => [row.id, row, i] as const))('%s', async (id, row, i) => {
    const result = await play(row, bases[i] ?? '')
    const outcomes = [row.expect, ...(row.also_ok ?? [])]
    const isFollowed = outcomes.some((outcome) => matches(row, result, outcome))
    const shown =
      'code' in result
        ? result.code
        : Object.fromEntries([...result.files].map(([p, b]) => [p, b.toString()]))
    if (otherwise[id] !== undefined)
      expect(isFollowed, `${id} is followed now: take it off the list`).toBe(false)
    else expect(isFollowed, `${row.note}: ${JSON.stringify({ shown, expected: outcomes })}`).toBe(true)
  })

  test('every row on a list of exceptions is a row, and an exception', () => {
    for (const [id, [code]] of Object.entries(otherCode)) {
      const kind = cases.find((row) => row.id === id)?.expect.refuse ?? ''
      expect(codesOf[kind], id).not.toContain(code)
    }
    const ids = new Set(cases.map(({ id }) => id))
    expect(Object.keys(otherwise).filter((id) => !ids.has(id))).toEqual([])
  })

  test('there are as many rows as were given', () => {
    expect(cases).toHaveLength(215)
  })
})
