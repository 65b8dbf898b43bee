import { join, relative } from 'node:path'
import { ignoredPaths } from '../git/check-ignore.ts'
import type { Repository } from '../git/open-repository.ts'
import { listUntracked } from '../git/untracked.ts'
import { copyIntoTree } from '../sys/tree-files.ts'
import { readWorkTreeFile } from '../sys/work-tree-file.ts'
import { scratchHome } from './scratch-home.ts'

export const INCLUDE_FILE = '.worktreeinclude'

const PATTERNS_MAX_BYTES = 1024 * 1024
const FILES_MAX = 200_000
const TOTAL_MAX_BYTES = 8 * 1024 * 1024 * 1024
const REMARKS_MAX = 5

export interface Included {
  readonly paths: readonly string[]
  /** What was named and left out, each as a sentence. */
  readonly remarks: readonly string[]
}

/**
 * Copies the ignored files that `.worktreeinclude` of the user's work tree names (in the syntax of .gitignore) into a scratch
 * tree: regular files only, through no link on either side, with their permissions. Tracked files, and files that are not ignored, are
 * never copied: the tree has its own.
 */
export async function copyIncluded(repository: Repository, tree: string): Promise<Included> {
  const root = repository.workTree
  if (root === null) return { paths: [], remarks: [] }
  const patterns = await readWorkTreeFile(root, INCLUDE_FILE, PATTERNS_MAX_BYTES)
  if (patterns.kind !== 'file') return { paths: [], remarks: [] }
  const { paths: named } = await listUntracked(repository.door, {
    ignored: 'only',
    patternFiles: [join(root, INCLUDE_FILE)],
  })
  const ignored = await ignoredPaths(repository.door, named)
  const isOwn = ownPlace(repository, root)
  const wanted = named.filter((path) => ignored.has(path) && !path.endsWith('/') && !isOwn(path))
  return copyAll(root, tree, wanted)
}

/** The scratch trees lie in the work tree where that holds the user's cache folder. */
function ownPlace(repository: Repository, root: string): (path: string) => boolean {
  const own = relative(root, join(scratchHome(repository), '..'))
  return (path) => !own.startsWith('..') && `${path}/`.startsWith(`${own}/`)
}

function copyAll(root: string, tree: string, wanted: readonly string[]): Included {
  if (wanted.length > FILES_MAX) {
    // A part of them would be worse than none.
    const remark = `${INCLUDE_FILE} names ${wanted.length} files; with more than ${FILES_MAX} none is copied`
    return { paths: [], remarks: [remark] }
  }
  const paths: string[] = []
  const left: string[] = []
  let room = TOTAL_MAX_BYTES
  for (const path of wanted) {
    const outcome = copyIntoTree(root, tree, path, room)
    if (outcome.kind === 'copied') {
      paths.push(path)
      room -= outcome.size
    } else if (outcome.kind === 'too-large') left.push(`${path} was not copied: it is too large`)
    else if (outcome.kind === 'not-regular' || outcome.kind === 'symlink')
      left.push(`${path} was not copied: it is no regular file`)
    else if (outcome.kind !== 'missing') left.push(`${path} was not copied: something stands in its place`)
  }
  const more = left.length - REMARKS_MAX
  return {
    paths,
    remarks: [...left.slice(0, REMARKS_MAX), ...(more > 0 ? [`${more} more were not copied`] : [])],
  }
}
