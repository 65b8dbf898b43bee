import { configEntries } from './config-snapshot.ts'
import { type ConfigValues, configBoolean, configValues } from './config-values.ts'
import { type GitDoor, git, withoutIndex } from './door.ts'
import type { Repository } from './open-repository.ts'

/** How git turns the bytes of a path into a blob and back. Paths whose bytes are the blob have none. */
export type PathConversion = ConvertedPath | FilteredPath

/** Line endings, an encoding, or `$Id$`: git does this by itself. A filter is here only where the user allows it. */
export interface ConvertedPath {
  readonly kind: 'converted'
  readonly lineEndings: LineEndings
  /** `working-tree-encoding`, such as `UTF-16LE-BOM`; null = none. */
  readonly encoding: string | null
  readonly ident: boolean
  /** The filter driver that the user lets galley run on the path, as git does; null = none. */
  readonly filter: string | null
}

/** The path passes through a filter driver that is configured here and that the user does not allow (`galley.allowFilter`). */
export interface FilteredPath {
  readonly kind: 'filtered'
  /** `lfs`, `git-crypt`, … */
  readonly driver: string
}

/**
 * `text`: CRLF becomes LF in the blob. `auto`: only if the content is text, and never when the blob in the
 * index has CRLF already. `toCrlf`: LF becomes CRLF in the work tree.
 */
export type LineEndings =
  | { readonly kind: 'as-is' }
  | { readonly kind: 'text' | 'auto'; readonly toCrlf: boolean }

const ATTRIBUTES = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const
/** Configuration that conversions depend on, as a pattern for `configValues`. */
export const conversionKeys =
  '^(core\\.(autocrlf|eol|sparsecheckout)|filter\\..*\\.(clean|smudge|process|required))$'

/**
 * Finds which of the paths have a conversion, by the attributes that hold in the work tree and the user's
 * configuration.
 *
 * Costs two processes at once, whatever the number of paths, and no index: except in a sparse checkout, whose
 * `.gitattributes` may be in the index alone. Nothing is written. A bare repository has no conversions.
 *
 * @param known - The values of `conversionKeys`, where they are being read anyway.
 * @returns One entry for each path that has one. A filter whose driver is not configured does nothing in git
 * either (a clone without git-lfs holds pointers as they are), so it counts as none.
 */
export async function pathConversions(
  repository: Repository,
  paths: readonly string[],
  known?: Promise<ConfigValues>,
): Promise<ReadonlyMap<string, PathConversion>> {
  if (repository.workTree === null || paths.length === 0) return new Map()
  const [values, attributes] = await Promise.all([
    known ?? configValues(repository.door, conversionKeys),
    checkAttributes(repository, paths, withoutIndex(repository.door)),
  ])
  const isSparse = configBoolean(values, 'core.sparsecheckout', false)
  const found = isSparse ? await checkAttributes(repository, paths, {}) : attributes
  const conversions = new Map<string, PathConversion>()
  for (const [path, set] of found) {
    const conversion = conversionOf(set, values)
    if (conversion !== null) conversions.set(path, conversion)
  }
  if (![...conversions.values()].some(({ kind }) => kind === 'filtered')) return conversions
  const allowed = await allowedFilters(repository.door)
  for (const [path, conversion] of conversions) {
    if (conversion.kind !== 'filtered' || !allowed.has(conversion.driver)) continue
    const set = found.get(path) ?? new Map()
    conversions.set(path, { ...convertedBy(set, values), filter: conversion.driver })
  }
  return conversions
}

/** The attribute `encoding` of a path, by which viewers know how to show it; null = none. git itself converts nothing by it. */
export async function declaredEncoding(repository: Repository, path: string): Promise<string | null> {
  if (repository.workTree === null) return null
  const found = await checkAttributes(repository, [path], withoutIndex(repository.door), ['encoding'])
  return namedValue(found.get(path)?.get('encoding'))
}

type AttributeSet = ReadonlyMap<string, string>

async function checkAttributes(
  repository: Repository,
  paths: readonly string[],
  env: Readonly<Record<string, string>>,
  names: readonly string[] = ATTRIBUTES,
): Promise<ReadonlyMap<string, AttributeSet>> {
  const result = await git(repository.door, {
    args: ['check-attr', '-z', '--stdin', ...names],
    input: paths.map((path) => `${path}\0`).join(''),
    env,
  })
  const byPath = new Map<string, Map<string, string>>()
  const fields = result.stdout.toString('utf8').split('\0')
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [path, name, value] = fields.slice(i, i + 3) as [string, string, string]
    const set = byPath.get(path) ?? new Map<string, string>()
    set.set(name, value)
    byPath.set(path, set)
  }
  return byPath
}

function conversionOf(set: AttributeSet, values: ConfigValues): PathConversion | null {
  const driver = namedValue(set.get('filter'))
  if (driver !== null && isConfigured(driver, values)) return { kind: 'filtered', driver }
  const converted = convertedBy(set, values)
  const { lineEndings, encoding, ident } = converted
  return lineEndings.kind === 'as-is' && encoding === null && !ident ? null : converted
}

const convertedBy = (set: AttributeSet, values: ConfigValues): ConvertedPath => ({
  kind: 'converted',
  lineEndings: lineEndingsOf(set, values),
  encoding: encodingOf(set),
  ident: set.get('ident') === 'set',
  filter: null,
})

/** Scopes that are the user's alone: a repository's own configuration may have come with it, or from an agent at work in it. */
const OWN_SCOPES = ['system', 'global']

/**
 * The filter drivers that the user lets galley run: `galley.allowFilter`, in their own configuration, as often as they like and with
 * several names in one value.
 */
async function allowedFilters(door: GitDoor): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const { scope, key, value } of await configEntries(door)) {
    if (key !== 'galley.allowfilter' || !OWN_SCOPES.includes(scope)) continue
    for (const name of value.split(/[\s,]+/)) if (name !== '') names.add(name)
  }
  return names
}

/** A value that is a name, not one of the words that check-attr prints for the three states. */
function namedValue(value: string | undefined): string | null {
  return value === undefined || ['set', 'unset', 'unspecified', ''].includes(value) ? null : value
}

function isConfigured(driver: string, values: ConfigValues): boolean {
  return ['clean', 'smudge', 'process'].some((key) => (values.get(`filter.${driver}.${key}`) ?? '') !== '')
}

/** UTF-8 is what git has anyway. @see convert.c, git_path_check_encoding */
function encodingOf(set: AttributeSet): string | null {
  const encoding = namedValue(set.get('working-tree-encoding'))
  return encoding === null || /^utf-?8$/i.test(encoding) ? null : encoding
}

/**
 * @see convert.c of git 2.39, convert_attrs: `text` (or the old `crlf`), then `eol`, then core.autocrlf and
 * core.eol.
 */
function lineEndingsOf(set: AttributeSet, values: ConfigValues): LineEndings {
  const autoCrlf = values.get('core.autocrlf')?.toLowerCase()
  const isAutoInput = autoCrlf === 'input'
  const isAutoCrlf = !isAutoInput && configBoolean(values, 'core.autocrlf', false)
  const eol = set.get('eol')
  const word = textWord(set.get('text')) ?? textWord(set.get('crlf'))
  if (word === 'unset') return { kind: 'as-is' }
  const defaultCrlf = isAutoCrlf || (!isAutoInput && values.get('core.eol')?.toLowerCase() === 'crlf')
  if (word === 'auto') return { kind: 'auto', toCrlf: eol === 'crlf' || (eol !== 'lf' && defaultCrlf) }
  // `eol` alone makes a path text.
  if (eol === 'lf' || eol === 'crlf') return { kind: 'text', toCrlf: eol === 'crlf' }
  if (word === 'input') return { kind: 'text', toCrlf: false }
  if (word === 'set') return { kind: 'text', toCrlf: defaultCrlf }
  if (isAutoCrlf || isAutoInput) return { kind: 'auto', toCrlf: isAutoCrlf }
  return { kind: 'as-is' }
}

function textWord(value: string | undefined): 'set' | 'unset' | 'auto' | 'input' | null {
  return value === 'set' || value === 'unset' || value === 'auto' || value === 'input' ? value : null
}
