import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { blobOf } from '../dialects/in-memory.ts'
import type { Tree } from '../dialects/tree.ts'

/** git without anything of the person's own: no configuration, no hooks, fixed names. */
const environment = {
  PATH: process.env['PATH'] ?? '',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

/** A bare repository for many pairs of trees at once, so that few processes serve a thousand cases. */
export class GitPairs {
  readonly #home = mkdtempSync(join(tmpdir(), 'galley-pairs-'))
  readonly #repository = join(this.#home, 'pairs.git')

  constructor() {
    this.git(['init', '-q', '--bare', this.#repository], undefined, this.#home)
  }

  [Symbol.dispose](): void {
    rmSync(this.#home, { recursive: true, force: true })
  }

  git(args: readonly string[], input?: Uint8Array | string, directory = this.#repository): Buffer {
    return execFileSync('git', args, {
      cwd: directory,
      env: this.#environment,
      maxBuffer: 1024 * 1024 * 1024,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(input === undefined ? {} : { input }),
    })
  }

  get #environment(): NodeJS.ProcessEnv {
    return { ...environment, HOME: this.#home, GIT_INDEX_FILE: join(this.#home, 'index') }
  }

  /** Commits each tree on a branch of its own, in one go: tree n of a set is the branch `<set>-<n>`. */
  importTrees(set: string, trees: readonly Tree[]): void {
    const parts: Uint8Array[] = []
    trees.forEach((tree, n) => {
      parts.push(Buffer.from(`commit refs/heads/${set}-${n}\ncommitter t <t> 1 +0000\ndata 0\ndeleteall\n`))
      for (const [path, file] of tree) parts.push(...entry(path, file))
    })
    this.git(['fast-import', '--quiet', '--force'], Buffer.concat(parts))
  }

  /** The diffs from tree n of one set to tree n of another, for these n, all with the same options. */
  diffs(
    sets: readonly [string, string],
    numbers: readonly number[],
    options: readonly string[],
  ): readonly Buffer[] {
    const names = numbers.flatMap((n) => sets.map((set) => `refs/heads/${set}-${n}^{tree}\n`))
    const ids = this.git(['cat-file', '--batch-check=%(objectname)'], names.join(''))
      .toString()
      .trim()
      .split('\n')
    const pairs = numbers.map((_, index) => `${ids[2 * index]} ${ids[2 * index + 1]}\n`)
    const output = this.git(['diff-tree', '-r', '-p', ...options, '--stdin'], pairs.join(''))
    return split(output, pairs)
  }

  /** Puts every tree into the index, tree n below the directory `<n>`. */
  readIndex(trees: readonly Tree[]): void {
    const all = new Map(
      trees.flatMap((tree, n) => [...tree].map(([path, file]) => [`${n}/${path}`, file] as const)),
    )
    this.importTrees('index', [all])
    this.git(['read-tree', 'refs/heads/index-0'])
  }

  /** Lets git apply a diff to tree n in the index. Returns whether it did; if not, it changed nothing. */
  apply(n: number, diff: Uint8Array, options: readonly string[]): boolean {
    const args = ['apply', '--cached', '--whitespace=nowarn', `--directory=${n}`, ...options, '-']
    return spawnSync('git', args, { cwd: this.#repository, env: this.#environment, input: diff }).status === 0
  }

  /** The trees of the index by number, as `shape` gives them. */
  indexTrees(): ReadonlyMap<number, readonly string[]> {
    const trees = new Map<number, string[]>()
    for (const line of this.git(['ls-files', '-s', '-z']).toString('utf8').split('\0')) {
      const found = /^(\d{6}) ([0-9a-f]+) 0\t(\d+)\/(.*)$/s.exec(line)
      if (found === null) continue
      const n = Number(found[3])
      const shown = `${found[1]} ${found[2]} ${found[4]}`
      const known = trees.get(n)
      if (known === undefined) trees.set(n, [shown])
      else known.push(shown)
    }
    return trees
  }
}

/** Modes, blobs and paths of a tree, sorted. */
export const shape = (tree: Tree): readonly string[] =>
  [...tree]
    .map(([path, { bytes, executable }]) => `${executable ? 100755 : 100644} ${blobOf(bytes)} ${path}`)
    .sort()

function entry(path: string, { bytes, executable }: Tree extends ReadonlyMap<string, infer F> ? F : never) {
  const head = `M ${executable ? 100755 : 100644} inline ${JSON.stringify(path)}\ndata ${bytes.length}\n`
  return [Buffer.from(head), bytes, Buffer.from('\n')]
}

/** Divides what `diff-tree --stdin` prints at the lines that repeat its input. */
function split(output: Buffer, pairs: readonly string[]): readonly Buffer[] {
  let at = 0
  const starts = pairs.map((pair) => {
    const line = Buffer.from(pair)
    let found = output.indexOf(line, at)
    // Within a diff every line has a sign before it, so that only the line itself begins so.
    while (found > 0 && output[found - 1] !== 10) found = output.indexOf(line, found + 1)
    if (found === -1) throw new Error(`no diff of ${pair}`)
    at = found + line.length
    return { begin: found, body: at }
  })
  return starts.map(({ body }, index) => output.subarray(body, starts[index + 1]?.begin ?? output.length))
}
