/** The directories that a sparse checkout holds whole, and those on the way to them, of which it holds the files. */
export interface SparseCone {
  /** Whether a directory is one of them, or lies in one that is held whole. */
  readonly holds: (directory: string) => boolean
  /** As `sparse-checkout set --cone` writes them. */
  readonly rules: string
}

/** Null where a name would have to be written as a pattern of its own kind. */
export function sparseCone(directories: readonly string[]): SparseCone | null {
  if (directories.some((directory) => /[*?[\\\p{Cc}"]|\s$/u.test(directory))) return null
  const named = new Set(directories)
  const whole = directories.filter((directory) => !parentsOf(directory).some((parent) => named.has(parent)))
  const wholes = new Set(whole)
  const onTheWay = new Set(whole.flatMap(parentsOf))
  const rules = [
    '/*',
    '!/*/',
    ...sorted(onTheWay).flatMap((directory) => [`/${directory}/`, `!/${directory}/*/`]),
    ...sorted(wholes).map((directory) => `/${directory}/`),
  ]
  return {
    holds: (directory) =>
      onTheWay.has(directory) ||
      wholes.has(directory) ||
      parentsOf(directory).some((parent) => wholes.has(parent)),
    rules: `${rules.join('\n')}\n`,
  }
}

/** Of `a/b/c`: `a` and `a/b`. */
function parentsOf(directory: string): readonly string[] {
  const parts = directory.split('/')
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('/'))
}

const sorted = (names: ReadonlySet<string>): readonly string[] =>
  [...names].sort((a, b) => Buffer.from(a).compare(Buffer.from(b)))
