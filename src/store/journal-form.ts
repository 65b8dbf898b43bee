import { basename, isAbsolute } from 'node:path'
import { isObjectId } from '../model/ids.ts'
import { isDotGit } from '../policy/paths.ts'
import type { LandingJournal } from './landing-journal.ts'

type Form = (value: unknown) => boolean

const text: Form = (value) => typeof value === 'string'
const number: Form = (value) => typeof value === 'number' && Number.isFinite(value)
const hex: Form = (value) => typeof value === 'string' && isObjectId(value)
const absolute: Form = (value) => typeof value === 'string' && isAbsolute(value) && !value.includes('\0')
const orNull =
  (form: Form): Form =>
  (value) =>
    value === null || form(value)
const oneOf =
  (...values: readonly unknown[]): Form =>
  (value) =>
    values.includes(value)
const listOf =
  (form: Form): Form =>
  (value) =>
    Array.isArray(value) && value.every(form)
const fields =
  (forms: Readonly<Record<string, Form>>): Form =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(forms).every(([name, form]) => form((value as Readonly<Record<string, unknown>>)[name]))

/** A path in a work tree that leads neither out of it nor into a git directory. */
const inside: Form = (value) =>
  typeof value === 'string' &&
  !value.includes('\0') &&
  value.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && !isDotGit(part))

/** A ref's file lies below the git directory. */
const ref: Form = (value) =>
  value === 'HEAD' ||
  (typeof value === 'string' &&
    value.startsWith('refs/') &&
    !value.includes('\0') &&
    value.split('/').every((part) => part !== '' && !part.startsWith('.')))

const processForm = fields({
  pid: number,
  startTime: orNull(text),
  host: text,
  boot: orNull(text),
  namespace: orNull(text),
})
const fileKey = orNull(fields({ mode: text, id: hex }))

const journalForm = fields({
  version: oneOf(1),
  id: text,
  label: text,
  owner: processForm,
  refProcess: processForm,
  startedAt: number,
  objectFormat: oneOf('sha1', 'sha256'),
  gitDir: absolute,
  workTree: absolute,
  ref,
  before: orNull(hex),
  after: hex,
  files: listOf(
    fields({
      kind: oneOf('write', 'create', 'delete'),
      path: inside,
      old: fileKey,
      next: fileKey,
      stage: absolute,
    }),
  ),
  cleared: listOf(fields({ path: inside, stage: absolute })),
  made: listOf(inside),
  indexFile: absolute,
  indexBasis: text,
  index: listOf(fields({ path: text, from: fileKey, to: fileKey, skipWorktree: oneOf(true, false) })),
})

/** Whether a value from a file has the form of the journal of the landing that works in `directory`, or was closed there. */
export function isJournalOf(directory: string, value: unknown): value is LandingJournal {
  if (!journalForm(value)) return false
  const { id, startedAt } = value as LandingJournal
  return [id, `${startedAt}-${id}`].includes(basename(directory))
}
