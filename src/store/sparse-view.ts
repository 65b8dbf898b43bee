import { dirname, join } from 'node:path'
import { statEntries } from '../git/index-stats.ts'
import type { SparseRules } from '../git/user-checkout.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { readQuickly, replaceQuickly } from '../sys/quick-files.ts'
import { removeEmptyDirectory } from '../sys/swap-file.ts'
import { removeTree } from '../sys/trees.ts'
import type { ScratchTree } from './scratch.ts'

/** Which files a full tree is to hold: null = all. */
export type TreeRules = SparseRules | null

/** What is written into galley's view of a tree, by its place there; null = nothing stands there. */
const filesOf = (rules: TreeRules) =>
  [
    ['info/sparse-checkout', rules === null ? null : Buffer.from(rules.text, 'latin1')],
    ['config.worktree', rules === null ? null : Buffer.from(settingsText(rules), 'latin1')],
  ] as const

/** With every entry in the index, so that what stands outside of the rules is told by its path. */
const settingsText = ({ isCone }: SparseRules): string =>
  `[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = ${isCone}\n[index]\n\tsparse = false\n`

/** Whether a full tree was made by these rules. */
export const hasRules = ({ door }: ScratchTree, rules: TreeRules): boolean =>
  filesOf(rules).every(([name, bytes]) => {
    const found = readQuickly(join(door.gitDir, name))
    return bytes === null ? found === null : found?.equals(bytes) === true
  })

/** Whether a full tree lacks files by some rules. */
export const isSparse = ({ door }: ScratchTree): boolean =>
  readQuickly(join(door.gitDir, 'info/sparse-checkout')) !== null

/** Tells galley's view of a tree by which rules its next checkout is to be. */
export async function setRules({ door }: ScratchTree, rules: TreeRules): Promise<void> {
  await makePrivateDirectory(join(door.gitDir, 'info'))
  for (const [name, bytes] of filesOf(rules)) {
    const file = join(door.gitDir, name)
    if (bytes === null) await removeTree(file)
    else await replaceQuickly(file, bytes)
  }
}

/** Removes directories of which every file is left out, and which git does not take for untracked: it has been told of what is in them. */
export function removeEmptyOutside({ path: root, door }: ScratchTree): void {
  const entries = statEntries(readQuickly(join(door.gitDir, 'index')) ?? Buffer.alloc(0), door.objectFormat)
  const found = new Set<string>()
  for (const [path, { skipWorktree }] of entries) {
    if (!skipWorktree) continue
    for (let above = dirname(path); above !== '.' && !found.has(above); above = dirname(above))
      found.add(above)
  }
  const deepestFirst = [...found].sort((a, b) => b.length - a.length)
  for (const path of deepestFirst) removeEmptyDirectory(root, Buffer.from(path, 'latin1').toString('utf8'))
}

/**
 * The user's rules, and some paths that are to stand there too: as where somebody edits a file outside of the cone, which git then keeps in
 * sight. Patterns of a cone mean the same where git reads them as any others.
 */
export function rulesWith(rules: TreeRules, paths: readonly string[]): TreeRules {
  if (rules === null || paths.length === 0) return rules
  const lines = paths
    .filter((path) => !/[\n\r\ufffd]/.test(path))
    .map(
      (path) =>
        `/${Buffer.from(path, 'utf8')
          .toString('latin1')
          .replaceAll(/[\\*?[\] ]/g, (c) => `\\${c}`)}\n`,
    )
  const text = rules.text.endsWith('\n') || rules.text === '' ? rules.text : `${rules.text}\n`
  return { text: `${text}${lines.join('')}`, isCone: false }
}
