import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Galley } from '../../src/flow/galley.ts'
import { GalleyError } from '../../src/model/error.ts'
import { openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { firstFiles, history, type Made, makeHistory } from './undo-history.ts'
import { approveAndLand, treeOf } from './undo-world.ts'

/** `GALLEY_HISTORIES=300` for a long run. */
const RUNS = Number(process.env['GALLEY_HISTORIES'] ?? 8)

/** What `git revert` makes of a commit: the paths that change, or why there is nothing. */
type Reverted = { readonly kind: 'clean'; readonly raw: string } | { readonly kind: 'conflict' | 'nothing' }

/** Asks git itself, in a clone that is thrown away. */
function revertByGit(repo: TestRepo, clone: string, commit: string): Reverted {
  const git = (...args: readonly string[]) => repo.tryGit('-C', clone, ...args)
  const tip = git('rev-parse', 'HEAD').out
  const { code, out } = git('revert', '--no-edit', commit)
  const raw = git('diff-tree', '-r', '--raw', '--no-renames', '--no-abbrev', tip, 'HEAD').out
  const isNothing = code !== 0 && !/CONFLICT|could not revert/.test(out)
  git('revert', '--abort')
  git('reset', '--hard', '-q', tip)
  if (code === 0) return { kind: 'clean', raw }
  return { kind: isNothing ? 'nothing' : 'conflict' }
}

interface Shown {
  readonly kind: Reverted['kind']
  readonly raw?: string
  readonly paths: readonly string[]
  readonly error?: GalleyError
}

async function showUndo(galley: Galley, target: string, withLater = false): Promise<Shown> {
  try {
    const { files } = await galley.previewUndo({ target, withLater })
    const letter = { added: 'A', deleted: 'D', modified: 'M', renamed: 'A' }
    const raw = files
      .map(
        (f) =>
          `:${f.oldMode} ${f.newMode} ${f.oldBlob} ${f.newBlob} ${letter[f.status]}\t${JSON.stringify(f.path)}`,
      )
      .join('\n')
    return { kind: 'clean', raw, paths: files.map((f) => f.path) }
  } catch (error) {
    if (!(error instanceof GalleyError)) throw error
    if (error.code === 'no-change') return { kind: 'nothing', paths: [] }
    expect(error.code).toBe('overlaps-later')
    return { kind: 'conflict', paths: [], error }
  }
}

/** Paths as git prints them, unquoted, to compare. */
function normal(raw: string): readonly string[] {
  return raw
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/\t(".*")$/, (_, text: string) => `\t${unquoted(text)}`))
    .sort()
}

const unquoted = (text: string): string => {
  const bytes = text
    .slice(1, -1)
    .replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
  return bytes === text.slice(1, -1) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Paths that a commit changed, under the names they have now too. */
function ownPaths(repo: TestRepo, commit: string): ReadonlySet<string> {
  const names = (...args: readonly string[]) =>
    repo
      .git('diff-tree', '-r', '-z', ...args)
      .split('\0')
      .filter((name) => name !== '')
  const own = new Set(names('--name-only', '--no-renames', `${commit}^`, commit))
  const rows = names('--name-status', '--diff-filter=R', '-M', commit, 'HEAD')
  for (let i = 0; i + 2 < rows.length + 1; i += 3) if (own.has(rows[i + 1] ?? '')) own.add(rows[i + 2] ?? '')
  return own
}

/** Leaves work of every kind in files that no history uses, and says how it all looks. */
function leaveWork(repo: TestRepo): () => string {
  repo.write('mine/staged.txt', 'staged\n')
  repo.git('add', 'mine/staged.txt')
  repo.write('mine/staged.txt', 'staged\nand more\r\n')
  repo.write('untracked.txt', 'untracked')
  const look = () =>
    [
      repo.git('status', '--porcelain'),
      repo.git('ls-files', '-s', 'mine'),
      repo.read('mine/staged.txt'),
      repo.read('untracked.txt'),
      repo.git('stash', 'list'),
    ].join('\0')
  return look
}

/** How often each outcome was met: a run that met no conflict has shown little. */
type Tally = Record<'clean' | 'conflict' | 'solved' | 'anyOrder', number>

async function checkAgainstGit(
  repo: TestRepo,
  galley: Galley,
  made: readonly Made[],
  tally: Tally,
): Promise<readonly Made[]> {
  const clone = `${repo.home}/clone`
  repo.git('clone', '-q', '--shared', repo.dir, clone)
  const clean: Made[] = []
  for (const one of made) {
    const [byGit, shown] = [
      revertByGit(repo, clone, one.commit),
      await showUndo(galley, one.id ?? one.commit),
    ]
    expect(shown.kind).toBe(byGit.kind)
    if (byGit.kind !== 'nothing') tally[byGit.kind] += 1
    if (byGit.kind === 'clean') {
      expect(normal(shown.raw ?? '')).toEqual(normal(byGit.raw))
      const own = ownPaths(repo, one.commit)
      expect(shown.paths.filter((path) => !own.has(path))).toEqual([])
      clean.push(one)
    }
    if (byGit.kind === 'conflict' && shown.error?.data['withLater'] === true) {
      tally.solved += 1
      await checkWithLater(repo, clone, galley, one, shown.error)
    }
  }
  return clean
}

/** Together with what stands in the way, newest first, git reverts the commit too, to the same tree. */
async function checkWithLater(
  repo: TestRepo,
  clone: string,
  galley: Galley,
  { commit, id }: Made,
  refused: GalleyError,
): Promise<void> {
  const later = refused.data['later'] as readonly { readonly commit: string }[]
  expect(later).not.toEqual([])
  const tip = repo.git('rev-parse', 'HEAD')
  for (const one of [...later.map((l) => l.commit), commit]) {
    const { code, out } = repo.tryGit('-C', clone, 'revert', '--no-edit', one)
    // What was taken back already with one before leaves nothing, which git calls a failure.
    if (code !== 0) expect(out).not.toMatch(/CONFLICT/)
  }
  const byGit = repo.tryGit(
    '-C',
    clone,
    'diff-tree',
    '-r',
    '--raw',
    '--no-renames',
    '--no-abbrev',
    tip,
    'HEAD',
  ).out
  repo.tryGit('-C', clone, 'reset', '--hard', '-q', tip)
  const shown = await showUndo(galley, id ?? commit, true)
  expect(normal(shown.raw ?? '')).toEqual(normal(byGit))
}

async function undoAndRedo(repo: TestRepo, galley: Galley, one: Made): Promise<void> {
  const look = leaveWork(repo)
  const [before, work] = [treeOf(repo), look()]
  const undo = await galley.undo({ target: one.id ?? one.commit, checks: 'later' })
  await approveAndLand(galley, undo.change)
  expect(treeOf(repo)).toBe(undo.change.tree)
  expect(look()).toBe(work)
  const redo = await galley.redo({ target: one.id ?? undo.change.id, checks: 'later' })
  await approveAndLand(galley, redo.change)
  expect(treeOf(repo)).toBe(before)
  expect(look()).toBe(work)
  if (one.id !== null) expect((await galley.show(one.id)).change.state).toBe('landed')
}

/** Newest first nothing can stand in the way. */
async function undoAll(repo: TestRepo, galley: Galley, first: string): Promise<void> {
  const root = repo.git('rev-list', '--max-parents=0', 'HEAD')
  for (const commit of repo.git('rev-list', `${root}..HEAD`).split('\n')) {
    const { change } = await galley.undo({ target: commit, checks: 'later' })
    await approveAndLand(galley, change)
  }
  expect(treeOf(repo)).toBe(first)
}

/**
 * In any order, each as soon as nothing stands in its way: at every step the tree is the one that git's reverts make in that order.
 *
 * That is the first tree at the end, but for lines that one commit adds and another removes, or that look like their neighbours: a
 * three-way merge, git's as well as ours, brings those back with whichever undo comes last.
 *
 * @returns Whether all of it led to the first tree.
 */
async function undoInOrder(
  repo: TestRepo,
  galley: Galley,
  first: string,
  order: readonly Made[],
): Promise<boolean> {
  const clone = `${repo.home}/clone`
  repo.git('-C', clone, 'pull', '-q', '--ff-only')
  let rest = order
  while (rest.length > 0) {
    const blocked: Made[] = []
    for (const one of rest) {
      const { kind } = await showUndo(galley, one.commit)
      // Two commits that did the same: undoing one of them changes nothing, and undoing the other takes back both.
      if (kind === 'nothing') return false
      if (kind === 'conflict') {
        blocked.push(one)
        continue
      }
      await approveAndLand(galley, (await galley.undo({ target: one.commit, checks: 'later' })).change)
      repo.git('-C', clone, 'revert', '--no-edit', one.commit)
      expect(treeOf(repo)).toBe(repo.git('-C', clone, 'rev-parse', 'HEAD^{tree}'))
    }
    if (blocked.length === rest.length) return false
    rest = blocked
  }
  return treeOf(repo) === first
}

test('undo is what git revert makes, in any history; it touches no other path, redo takes it back, and undoing all of it leads to the first tree', {
  timeout: RUNS * 30_000,
}, async () => {
  let run = 0
  const tally: Tally = { clean: 0, conflict: 0, solved: 0, anyOrder: 0 }
  await fc.assert(
    fc.asyncProperty(history, fc.nat(), async (acts, pick) => {
      using repo = makeRepo({ files: firstFiles })
      const first = treeOf(repo)
      await using galley = await openGalley(repo)
      const made = await makeHistory(repo, galley, acts)
      const clean = await checkAgainstGit(repo, galley, made, tally)
      const landed = clean.filter((one) => one.id !== null)
      const one = landed[pick % Math.max(1, landed.length)] ?? clean[pick % Math.max(1, clean.length)]
      if (one !== undefined) await undoAndRedo(repo, galley, one)
      run += 1
      if (run % 4 === 1 && made.length > 0) await undoAll(repo, galley, first)
      if (run % 4 === 3) {
        const order = [...made].sort((a, b) => (`${a.commit[pick % 40]}` < `${b.commit[pick % 40]}` ? -1 : 1))
        tally.anyOrder += Number(await undoInOrder(repo, galley, first, order))
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
  const met = RUNS < 100 ? [tally.clean, tally.conflict] : Object.values(tally)
  if (RUNS >= 8) expect(met.every((count) => count > 0)).toBe(true)
})
