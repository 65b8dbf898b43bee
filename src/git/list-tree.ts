import { type GitDoor, git, withoutIndex } from './door.ts'

export interface ListedEntry {
  /** Six octal digits; never a directory's. */
  readonly mode: string
  readonly id: string
}

/** Every file, link and submodule of a commit or tree, by its path as bytes: one character each. One process. */
export async function listTree(door: GitDoor, treeish: string): Promise<ReadonlyMap<string, ListedEntry>> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', treeish]
  const { stdout } = await git(door, { args, env: withoutIndex(door) })
  const entries = new Map<string, ListedEntry>()
  for (const line of stdout.toString('latin1').split('\0')) {
    const tab = line.indexOf('\t')
    const [mode, , id] = line.slice(0, tab).split(' ')
    if (tab !== -1 && mode !== undefined && id !== undefined) entries.set(line.slice(tab + 1), { mode, id })
  }
  return entries
}
