import { join, posix } from 'node:path'
import type { FileChange } from '../../git/fast-import.ts'
import type { ListedEntry } from '../../git/list-tree.ts'
import { readOwnHead } from '../../store/own-refs.ts'
import { readTreeBytes } from '../../sys/tree-bytes.ts'
import { type BytePath, shownPath, textOfBytes } from '../../sys/walk-tree.ts'

/** A submodule that stands at another commit than the base has it at, or is new. */
export interface MovedSubmodule {
  readonly path: BytePath
  readonly commit: string
  /** Where its repository is in the tree: in itself, or below the tree's own `.git`. */
  readonly gitDir: string
}

const POINTER_MAX_BYTES = 4096
const MODULES_MAX_BYTES = 1024 * 1024

/** The paths that a tree's `.gitmodules` names, by their text. A repository that nothing there names is no submodule, whatever was staged. */
export function namedSubmodules(root: string): (path: BytePath) => boolean {
  const read = readTreeBytes(root, '.gitmodules', MODULES_MAX_BYTES)
  const text = read.kind === 'bytes' ? read.bytes.toString('utf8') : ''
  const paths = new Set([...text.matchAll(/^\s*path\s*=\s*"?(.*?)"?\s*$/gm)].map(([, path]) => path))
  return (path) => paths.has(shownPath(path))
}

/** Those among some submodules that moved. Reads their HEADs as files; no git runs in them. */
export function movedSubmodules(
  root: string,
  submodules: readonly BytePath[],
  base: ReadonlyMap<BytePath, ListedEntry>,
): readonly MovedSubmodule[] {
  return submodules.flatMap((path) => {
    const gitDir = gitDirOf(root, path)
    const commit = gitDir === null ? undefined : readOwnHead(join(root, gitDir))?.commit
    if (gitDir === null || !commit || commit === base.get(path)?.id) return []
    return [{ path, commit, gitDir }]
  })
}

/** Relative to the root. Null where it is none, or would lead out of the tree. */
function gitDirOf(root: string, path: BytePath): string | null {
  const text = textOfBytes(path)
  if (text === null) return null
  const own = `${text}/.git`
  const read = readTreeBytes(root, `${path}/.git`, POINTER_MAX_BYTES)
  const pointer = read.kind === 'bytes' ? /^gitdir: (.*?)\s*$/s.exec(read.bytes.toString('utf8'))?.[1] : own
  if (pointer === undefined) return null
  const place = pointer === own ? own : posix.join(text, posix.normalize(pointer))
  return place === own || place.startsWith('.git/modules/') ? place : null
}

export const linkOf = ({ path, commit }: MovedSubmodule): FileChange => ({
  kind: 'entry',
  path: Buffer.from(path, 'latin1'),
  to: { mode: '160000', id: commit },
})

const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * What a person does before a moved submodule is of use to anybody else, each as a sentence. Fetching from what an agent left runs nothing of
 * what is in there; pushing from there would.
 *
 * @param folder - Where the tree's leavings are kept; its own `.git` is `git-directory` there.
 */
export function submoduleHints(moved: readonly MovedSubmodule[], folder: string | null): readonly string[] {
  return moved.map(({ path, commit, gitDir }) => {
    const name = shownPath(path)
    const is = `the submodule ${name} stands at ${commit.slice(0, 12)} in the change`
    if (folder === null) return is
    const kept = gitDir.startsWith('.git/')
      ? join(folder, 'git-directory', gitDir.slice('.git/'.length))
      : join(folder, name)
    return `${is}; its commits are kept in ${kept}. Publish them before it lands: in a checkout of the submodule, \`git fetch ${shellWord(kept)} HEAD\`, then \`git push origin ${commit}:refs/heads/BRANCH\``
  })
}
