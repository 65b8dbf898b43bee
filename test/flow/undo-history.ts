import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { Galley } from '../../src/flow/galley.ts'
import { batch } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'
import { approveAndLand } from './undo-world.ts'

/** One edit of a random history; numbers are taken modulo what there is. */
interface Step {
  readonly kind: 'replace' | 'insert' | 'remove' | 'create' | 'delete' | 'rename' | 'chmod' | 'rewrite'
  readonly file: number
  readonly line: number
  readonly text: number
}

/** One commit of a random history, by galley or by the user. */
export interface Act {
  readonly by: 'galley' | 'user'
  readonly steps: readonly Step[]
}

const step = fc.record<Step>({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('replace' as const) },
    { weight: 3, arbitrary: fc.constant('insert' as const) },
    { weight: 2, arbitrary: fc.constant('remove' as const) },
    { weight: 1, arbitrary: fc.constantFrom('create', 'delete', 'rename', 'chmod', 'rewrite') },
  ),
  file: fc.nat(9),
  line: fc.nat(29),
  text: fc.nat(6),
})

export const history: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record<Act>({
    by: fc.constantFrom('galley', 'user', 'user'),
    steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 3, maxLength: 7 },
)

const NAMES = [
  'a.txt',
  'b.txt',
  'd/c.txt',
  'd/e.txt',
  'f/g/h.txt',
  'd',
  'win.txt',
  'ä ö.txt',
  'k.txt',
  'd/c/x.txt',
]

interface ModelFile {
  readonly lines: readonly string[]
  readonly eol: '\n' | '\r\n'
  readonly executable: boolean
}

type Model = ReadonlyMap<string, ModelFile>

const FIRST: Model = new Map(
  ['a.txt', 'b.txt', 'd/c.txt', 'win.txt'].map((path): [string, ModelFile] => [
    path,
    {
      lines: Array.from({ length: 24 }, (_, i) => (i % 5 === 4 ? '' : `${path} ${i}`)),
      eol: path === 'win.txt' ? '\r\n' : '\n',
      executable: false,
    },
  ]),
)

const contentOf = ({ lines, eol }: ModelFile): string => lines.map((line) => line + eol).join('')

export const firstFiles: Readonly<Record<string, string>> = Object.fromEntries(
  [...FIRST].map(([path, file]) => [path, contentOf(file)]),
)

/** Whether a file of this name can stand beside the others: no name is a directory of another. */
const fits = (model: Model, path: string): boolean =>
  [...model.keys()].every(
    (name) => name !== path && !name.startsWith(`${path}/`) && !path.startsWith(`${name}/`),
  )

/** The files after one edit; the same where there is nothing to edit. */
function applyStep(model: Model, { kind, file, line, text }: Step, act: number): Model {
  const next = new Map(model)
  const paths = [...model.keys()]
  const path = paths[file % Math.max(1, paths.length)]
  const name = NAMES[file % NAMES.length] ?? ''
  if (kind === 'create') {
    const lines = Array.from({ length: 4 + text }, (_, i) => `new ${act} ${i % 3}`)
    return fits(model, name) ? next.set(name, { lines, eol: '\n', executable: text === 0 }) : model
  }
  const found = path === undefined ? undefined : model.get(path)
  if (path === undefined || found === undefined) return model
  if (kind === 'delete' || kind === 'rename') {
    next.delete(path)
    if (kind === 'delete') return paths.length > 1 ? next : model
    const to = NAMES[(file + 1 + line) % NAMES.length] ?? ''
    return fits(next, to) ? next.set(to, found) : model
  }
  if (kind === 'chmod') return next.set(path, { ...found, executable: !found.executable })
  const lines = [...found.lines]
  const at = line % Math.max(1, lines.length)
  // Some texts repeat, so that merges meet lines that look alike.
  const fresh = text < 3 ? `same ${text}` : `${kind} ${act} ${text}`
  if (kind === 'replace') lines[at] = fresh
  if (kind === 'insert') lines.splice(at, 0, fresh)
  if (kind === 'remove') lines.splice(at, 1)
  if (kind === 'rewrite')
    lines.splice(0, lines.length, ...lines.map((old, i) => (i % 2 === 0 ? old : `${fresh} ${i}`)))
  return next.set(path, { ...found, lines })
}

/** A commit of the history as it came to be. */
export interface Made {
  readonly commit: string
  /** The change, where galley made it. */
  readonly id: string | null
}

/** Makes a history in a repository that holds `firstFiles`. Acts that come to nothing make no commit. */
export async function makeHistory(
  repo: TestRepo,
  galley: Galley,
  acts: readonly Act[],
): Promise<readonly Made[]> {
  const made: Made[] = []
  let model = FIRST
  for (const [index, act] of acts.entries()) {
    const next = act.steps.reduce((at: Model, one) => applyStep(at, one, index), model)
    const edits = editsBetween(model, next)
    model = next
    if (edits.length === 0) continue
    made.push(act.by === 'user' ? commitByHand(repo, edits, index) : await landByGalley(galley, edits, index))
  }
  return made
}

type FileEdit =
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly file: ModelFile }

function editsBetween(before: Model, after: Model): readonly FileEdit[] {
  const gone = [...before.keys()].filter((path) => !after.has(path))
  const isSame = (path: string, file: ModelFile): boolean => {
    const old = before.get(path)
    return old !== undefined && contentOf(old) === contentOf(file) && old.executable === file.executable
  }
  return [
    ...gone.map((path): FileEdit => ({ kind: 'delete', path })),
    ...[...after].flatMap(([path, file]): FileEdit[] =>
      isSame(path, file) ? [] : [{ kind: 'write', path, file }],
    ),
  ]
}

function commitByHand(repo: TestRepo, edits: readonly FileEdit[], index: number): Made {
  for (const edit of edits) {
    const file = join(repo.dir, edit.path)
    // What stands there as a directory is empty: git keeps none.
    rmSync(file, { force: true, recursive: true })
    if (edit.kind === 'delete') continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, contentOf(edit.file))
    chmodSync(file, edit.file.executable ? 0o755 : 0o644)
  }
  return { commit: repo.commit(`by hand ${index}`), id: null }
}

async function landByGalley(galley: Galley, edits: readonly FileEdit[], index: number): Promise<Made> {
  const items = edits.map((edit) =>
    edit.kind === 'delete'
      ? { op: 'delete', path: edit.path }
      : { op: 'write', path: edit.path, content: contentOf(edit.file), executable: edit.file.executable },
  )
  const made = batch(items, { title: `change ${index}`, order: 'sequential' })
  const { change } = await galley.propose({ batch: made, checks: 'later' })
  const landed = await approveAndLand(galley, change)
  return { commit: landed.landed?.after ?? '', id: change.id }
}
