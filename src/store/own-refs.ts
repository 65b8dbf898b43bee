import { join } from 'node:path'
import { type CommitId, commitId, isObjectId } from '../model/ids.ts'
import { isOwnDirectory, namesBelow } from '../sys/folder-anew.ts'
import { readQuickly } from '../sys/quick-files.ts'
import { ownRepositoryOf } from './own-repository.ts'

/** What HEAD of a tree's own repository says; all of it is the word of whoever worked there. */
export interface OwnHead {
  /** As it stands in the file; empty where there is none. */
  readonly text: string
  /** What it comes to by the files; null = nothing. Whether there is such an object is not known. */
  readonly commit: CommitId | null
}

/** A ref that leads to a ref, and so on. */
const SYMBOLIC_MAX = 5

/** Reads HEAD of a tree's own repository, and the ref that it names, as files. Null where there is no repository. */
export function readOwnHead(gitDir: string): OwnHead | null {
  if (!isOwnDirectory(gitDir)) return null
  const text = textOf(join(gitDir, 'HEAD'))
  let value = text
  for (let i = 0; i < SYMBOLIC_MAX && value.startsWith('ref: '); i++) {
    const name = value.slice('ref: '.length).trim()
    value = isRefName(name) ? textOf(join(gitDir, name)) || packedValue(gitDir, name) : ''
  }
  return { text, commit: isObjectId(value) ? commitId(value) : null }
}

const textOf = (file: string): string => (readQuickly(file) ?? '').toString('utf8').trim()

/** A name that leads out of the folder is none. */
const isRefName = (name: string): boolean =>
  /^refs\/[^\s\0~^:?*[\\]+$/.test(name) &&
  !name.split('/').some((part) => part === '' || part.startsWith('.'))

function packedValue(gitDir: string, name: string): string {
  const line = textOf(join(gitDir, 'packed-refs'))
    .split('\n')
    .find((row) => row.endsWith(` ${name}`))
  return line?.split(' ')[0] ?? ''
}

/** What somebody has made of the repository that a tree was given, each as a few words: for telling whether it holds work. */
export async function changedRepository(tree: { readonly path: string }): Promise<readonly string[]> {
  const { gitDir, handedOut } = await ownRepositoryOf(tree)
  const head = readOwnHead(gitDir)
  if (handedOut === null || head === null) return ['its repository']
  const logs = namesBelow(join(gitDir, 'logs'))
  const loose = namesBelow(join(gitDir, 'refs')).filter((name) => {
    const ref = `refs/${name}`
    const value = textOf(join(gitDir, ref))
    return !value.startsWith('ref: ') && value !== handedOut.refs[ref]
  })
  return [
    ...(head.commit === handedOut.commit ? [] : ['a commit']),
    ...loose.map((name) => `refs/${name}`),
    ...(logs.length === 0 ? [] : ['a log of refs']),
  ]
}
