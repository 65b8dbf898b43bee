import { invariant } from '../model/error.ts'
import { type CommitId, commitId, isObjectId, type ObjectFormat, type RefName, zeroId } from '../model/ids.ts'
import { type GitDoor, git, gitFailure } from './door.ts'

/** What must be true of a ref before it moves. There is no "any": every move is a compare-and-swap. */
export interface RefUpdate {
  readonly ref: string
  /** null = must not exist. */
  readonly expected: string | null
  /** null = delete. */
  readonly next: string | null
}

const REF_NAME = /^(?:HEAD|refs\/[^\s\0~^:?*[\\]+)$/

/**
 * Moves all refs in one transaction, or none.
 *
 * @returns false if one of them was not as expected or its lock was held; nothing has moved then.
 */
export async function updateRefs(
  door: GitDoor,
  updates: readonly RefUpdate[],
  reason: string,
): Promise<boolean> {
  const result = await git(door, {
    args: ['update-ref', '-m', reason, '--stdin', '-z'],
    input: `start\0${updates.map((u) => updateLine(u, door.objectFormat)).join('')}commit\0`,
    okCodes: [0, 128],
  })
  if (result.exitCode === 0) return true
  // A lost race and a held lock both say "cannot lock ref", and so does a full device; that is not ours to swallow.
  const failure = gitFailure(['update-ref', '--stdin'], result)
  if (failure.code !== 'io-error' && result.stderr.includes('cannot lock ref')) return false
  throw failure
}

function updateLine(update: RefUpdate, format: ObjectFormat): string {
  invariant(REF_NAME.test(update.ref) && !update.ref.includes('..'), `not a ref name: ${update.ref}`)
  const expected = update.expected ?? zeroId(format)
  if (update.next === null) return `delete ${update.ref}\0${expected}\0`
  return `update ${update.ref}\0${update.next}\0${expected}\0`
}

/** The full name of the branch that HEAD names, or null when HEAD is detached. */
export async function headBranch(door: GitDoor): Promise<RefName | null> {
  const result = await git(door, { args: ['symbolic-ref', '-q', 'HEAD'], okCodes: [0, 1] })
  return result.exitCode === 0 ? (result.stdout.toString('utf8').trim() as RefName) : null
}

export interface HeadPlace {
  /** null = detached. */
  readonly branch: RefName | null
  /** null = unborn. */
  readonly tip: CommitId | null
}

/** HEAD's branch, as `headBranch`, and commit (null = unborn): one process, where there is no commit yet three. */
export async function headOf(door: GitDoor): Promise<HeadPlace> {
  const { stdout } = await git(door, { args: ['rev-parse', ...HEAD_QUESTION], okCodes: [0, 128] })
  const head = headAnswer(stdout.toString('utf8').split('\n'))
  if (head !== null) return head
  const [branch, tip] = await Promise.all([headBranch(door), resolveCommit(door, 'HEAD')])
  return { branch, tip }
}

/** What `rev-parse` is asked for HEAD, among other things or alone; last, since an unborn one ends it. */
export const HEAD_QUESTION = ['HEAD^{commit}', '--symbolic-full-name', 'HEAD'] as const

/** Null where it is unborn, or a branch or tag is itself called HEAD. */
export function headAnswer(lines: readonly string[]): HeadPlace | null {
  const [tip = '', name = '', ...rest] = lines
  if (!isObjectId(tip) || name === '' || rest.join('') !== '') return null
  return { branch: name === 'HEAD' ? null : (name as RefName), tip: commitId(tip) }
}

/** The commit that a revision expression names, or null when it names none. The expression may be hostile text. */
export async function resolveCommit(door: GitDoor, expression: string): Promise<CommitId | null> {
  if (expression === '' || expression.includes('\0')) return null
  const result = await git(door, {
    args: ['rev-parse', '-q', '--verify', '--end-of-options', `${expression}^{commit}`],
    okCodes: [0, 1, 128],
  })
  const text = result.stdout.toString('utf8').trim()
  // What is no name of one commit (`^HEAD`) is answered as it is.
  return result.exitCode === 0 && isObjectId(text) ? commitId(text) : null
}

/** Where a symbolic ref leads to; null = it is none. */
export async function symbolicTarget(door: GitDoor, ref: string): Promise<string | null> {
  const result = await git(door, { args: ['symbolic-ref', '-q', ref], okCodes: [0, 1, 128] })
  return result.exitCode === 0 ? result.stdout.toString('utf8').trim() : null
}

/** Symbolic refs that lead to something, with the ref at their end. One process. */
export async function listSymbolic(door: GitDoor): Promise<ReadonlyMap<string, string>> {
  const result = await git(door, { args: ['for-each-ref', '--format=%(refname) %(symref)'] })
  const rows = result.stdout
    .toString('utf8')
    .split('\n')
    .map((line) => line.split(' '))
  return new Map(rows.flatMap(([ref = '', target = '']) => (target === '' ? [] : [[ref, target] as const])))
}

export interface RefRow {
  readonly ref: string
  readonly object: string
}

/** Refs under one or more prefixes (each ends in `/` or names one ref), sorted by name. One process. */
export async function listRefs(door: GitDoor, ...prefixes: readonly string[]): Promise<readonly RefRow[]> {
  const result = await git(door, { args: ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes] })
  return result.stdout
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const space = line.indexOf(' ')
      return { object: line.slice(0, space), ref: line.slice(space + 1) }
    })
}
