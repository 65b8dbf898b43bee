import { isObjectId } from '../../model/ids.ts'
import { readTreeBytes } from '../../sys/tree-bytes.ts'
import { type BytePath, shownPath, walkTree } from '../../sys/walk-tree.ts'

/** A name that something in a git directory gives to an object: a branch, a stash, where a rebase stopped. */
export interface NamedObject {
  readonly id: string
  /** As a part of a ref's name, such as `branch/topic`. */
  readonly name: string
}

/** What git writes itself is far smaller; a file beyond it says nothing. */
const REF_MAX_BYTES = 4096
const TABLE_MAX_BYTES = 64 * 1024 * 1024
const NAMES_MAX = 100_000

/** Files beside `refs/` that name one commit each. */
const STATES: readonly (readonly [file: string, name: string])[] = [
  ['HEAD', 'head'],
  ['ORIG_HEAD', 'orig-head'],
  ['MERGE_HEAD', 'merge-head'],
  ['CHERRY_PICK_HEAD', 'cherry-pick-head'],
  ['REVERT_HEAD', 'revert-head'],
  ['REBASE_HEAD', 'rebase-head'],
  ['BISECT_HEAD', 'bisect-head'],
  ['AUTO_MERGE', 'auto-merge'],
  ['MERGE_AUTOSTASH', 'autostash'],
  ['rebase-merge/orig-head', 'rebase-orig-head'],
  ['rebase-merge/onto', 'rebase-onto'],
  ['rebase-merge/stopped-sha', 'rebase-stopped'],
  ['rebase-merge/autostash', 'rebase-autostash'],
  ['rebase-apply/orig-head', 'rebase-orig-head'],
  ['rebase-apply/onto', 'rebase-onto'],
  ['rebase-apply/original-commit', 'rebase-stopped'],
  ['rebase-apply/autostash', 'rebase-autostash'],
  ['sequencer/head', 'sequencer-head'],
]

const KINDS: readonly (readonly [prefix: string, kind: string])[] = [
  ['refs/heads/', 'branch/'],
  ['refs/tags/', 'tag/'],
  ['refs/remotes/', 'remote/'],
  ['refs/notes/', 'notes/'],
  ['refs/', 'ref/'],
]

/**
 * Reads, as files, what a git directory calls its objects. Garbage among it is passed over: whatever no name leads to is found by its object.
 */
export function namedObjects(gitDir: string): readonly NamedObject[] {
  const names: NamedObject[] = []
  const add = (id: string, name: string) => {
    if (isObjectId(id) && names.length < NAMES_MAX) names.push({ id, name: refPart(name) })
  }
  for (const [ref, id] of refsIn(gitDir)) add(id, ref === 'refs/stash' ? 'stash' : nameOfRef(ref))
  stashesIn(gitDir).forEach((id, i) => {
    add(id, `stash-${i + 2}`)
  })
  for (const [file, name] of STATES) add(textIn(gitDir, file, REF_MAX_BYTES), name)
  for (const [path, text] of filesIn(`${gitDir}/worktrees`))
    if (path.endsWith('/HEAD')) add(text, `worktree/${path.slice(0, -'/HEAD'.length)}`)
  return names
}

function nameOfRef(ref: string): string {
  const [prefix, kind] = KINDS.find(([start]) => ref.startsWith(start)) ?? ['', 'ref/']
  return kind + ref.slice(prefix.length)
}

/** Every ref, loose or packed, with what its file or line says. */
export function refsIn(gitDir: string): readonly (readonly [ref: string, id: string])[] {
  const loose = [...filesIn(`${gitDir}/refs`)].map(([path, text]): [string, string] => [`refs/${path}`, text])
  const packed = textIn(gitDir, 'packed-refs', TABLE_MAX_BYTES)
    .split('\n')
    .flatMap((line) => {
      const [, id, ref] = /^([0-9a-f]{40,64}) (refs\/\S.*)$/.exec(line) ?? []
      return id === undefined || ref === undefined ? [] : [[ref, id] as const]
    })
  const known = new Set(loose.map(([ref]) => ref))
  return [...loose, ...packed.filter(([ref]) => !known.has(ref))]
}

/** The older stashes, newest first: git keeps them in the log of the one ref. */
function stashesIn(gitDir: string): readonly string[] {
  const ids = textIn(gitDir, 'logs/refs/stash', TABLE_MAX_BYTES)
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
  return ids.reverse().slice(1)
}

function* filesIn(root: string): Generator<readonly [path: string, text: string]> {
  const paths: BytePath[] = []
  try {
    walkTree(root, {
      atDirectory: () => 'enter',
      found: ({ path, kind }) => {
        if (kind === 'file' && paths.length < NAMES_MAX) paths.push(path)
      },
    })
  } catch {
    // No directory, or one that changes under our hands.
  }
  for (const path of paths) yield [shownPath(path), textIn(root, path, REF_MAX_BYTES)]
}

function textIn(root: string, path: BytePath, maxBytes: number): string {
  try {
    const read = readTreeBytes(root, path, maxBytes)
    return read.kind === 'bytes' ? read.bytes.toString('utf8').trim() : ''
  } catch {
    return ''
  }
}

/** Makes a name that git takes in a ref, whatever the name was. */
export function refPart(name: string): string {
  return name
    .slice(0, 200)
    .split('/')
    .map((part) => part.replaceAll(/[^\p{L}\p{N}_+=@%,-]+/gu, (c) => (c === '.' ? '.' : '_')))
    .map((part) =>
      part
        .replace(/^[.-]/, '_')
        .replace(/\.lock$/, '_lock')
        .replace(/\.$/, '_'),
    )
    .filter((part) => part !== '')
    .join('/')
}
