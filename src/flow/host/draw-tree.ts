import { oneLine } from '../../review/comment-text.ts'

/** Bounds of a drawn tree, those of Agent Zero's own host. */
const DEPTH_MAX = 5
const EACH_MAX = 20
const LINES_MAX = 250

interface Folder {
  readonly folders: Map<string, Folder>
  readonly files: string[]
}

/**
 * Draws the files of a work tree as Agent Zero's host does: folders first, then files, by name without regard to case; at most 20 of each
 * in one folder, 5 levels and 250 lines. What is left out is counted.
 *
 * @param paths - As git lists them: `/` between parts.
 */
export function drawTree(root: string, paths: readonly string[]): string {
  const lines = [`${root}/`]
  const draw = (folder: Folder, indent: string, depth: number): void => {
    const entries = entriesOf(folder, depth)
    entries.forEach(({ text, below }, index) => {
      const isLast = index === entries.length - 1
      lines.push(`${indent}${isLast ? '└── ' : '├── '}${text}`)
      if (below !== null) draw(below, `${indent}${isLast ? '    ' : '│   '}`, depth + 1)
    })
  }
  draw(folderOf(paths), '', 1)
  return lines.length <= LINES_MAX
    ? lines.join('\n')
    : [...lines.slice(0, LINES_MAX), '# limit reached'].join('\n')
}

function folderOf(paths: readonly string[]): Folder {
  const top: Folder = { folders: new Map(), files: [] }
  for (const path of paths) {
    const parts = path.split('/')
    let at = top
    for (const name of parts.slice(0, -1)) {
      const next = at.folders.get(name) ?? { folders: new Map(), files: [] }
      at.folders.set(name, next)
      at = next
    }
    at.files.push(parts.at(-1) ?? '')
  }
  return top
}

interface Entry {
  readonly text: string
  readonly below: Folder | null
}

function entriesOf({ folders, files }: Folder, depth: number): readonly Entry[] {
  const byName = (a: string, b: string): number => {
    const [x, y] = [a.toLowerCase(), b.toLowerCase()]
    return x < y ? -1 : x > y ? 1 : 0
  }
  const names = [...folders.keys()].sort(byName)
  const shownFolders = names.slice(0, EACH_MAX).map((name): Entry => {
    const below = depth < DEPTH_MAX ? (folders.get(name) ?? null) : null
    return { text: `${oneLine(name)}/`, below }
  })
  const shownFiles = [...files]
    .sort(byName)
    .slice(0, EACH_MAX)
    .map((name): Entry => ({ text: oneLine(name), below: null }))
  return [
    ...shownFolders,
    ...more(names.length - shownFolders.length, 'folder'),
    ...shownFiles,
    ...more(files.length - shownFiles.length, 'file'),
  ]
}

const more = (count: number, what: string): readonly Entry[] =>
  count <= 0 ? [] : [{ text: `# ${count} more ${what}${count === 1 ? '' : 's'}`, below: null }]
