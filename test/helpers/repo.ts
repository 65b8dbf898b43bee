import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface RepoOptions {
  readonly objectFormat?: 'sha1' | 'sha256'
  /** Committed as the first commit; left out: no commit at all. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Name of the repository's folder; for spaces and letters beyond ASCII. */
  readonly name?: string
  readonly bare?: boolean
  /** Where its home is made; default: the system's temporary directory. */
  readonly under?: string
}

/** A repository of its own in a temporary directory, with an environment that nothing leaks into. */
export interface TestRepo {
  readonly dir: string
  /** Parent of `dir`, for files beside the repository; also its HOME. */
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** Runs git and gives its output without the last line feed; throws when it fails. */
  readonly git: (...args: readonly string[]) => string
  readonly tryGit: (...args: readonly string[]) => { readonly code: number; readonly out: string }
  readonly write: (path: string, content: string | Uint8Array) => void
  readonly read: (path: string) => string
  readonly bytes: (path: string) => Buffer
  readonly commit: (message: string) => string
  readonly snapshot: () => Snapshot
  readonly [Symbol.dispose]: () => void
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** All that is the user's: compared whole before and after every refusal. */
export interface Snapshot {
  /** What HEAD says; of the work tree that it was taken in. */
  readonly head: string
  readonly index: string
  /** With the branch and its commit. */
  readonly status: string
  /** Every file outside `.git`: mode and digest of its bytes. */
  readonly files: Readonly<Record<string, string>>
  /** Every file inside `.git` but galley's folder: refs and their logs, stash, index, objects, configuration, other work trees. */
  readonly gitFiles: Readonly<Record<string, string>>
}

/** Makes a repository. Set KEEP_TEST_REPOS=1 to keep it for a look. */
export function makeRepo(options: RepoOptions = {}): TestRepo {
  const home = realpathSync(mkdtempSync(join(options.under ?? tmpdir(), 'galley-test-')))
  const dir = join(home, options.name ?? 'repo')
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_CACHE_HOME: join(home, 'cache'),
    TMPDIR: options.under ?? tmpdir(),
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    GIT_CONFIG_NOSYSTEM: '1',
  }
  writeFileSync(
    join(home, 'gitconfig'),
    '[user]\n\tname = Test User\n\temail = test@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgSign = false\n[advice]\n\tdetachedHead = false\n',
  )
  mkdirSync(dir)
  const dates = { GIT_AUTHOR_DATE: '1700000000 +0000', GIT_COMMITTER_DATE: '1700000000 +0000' }
  const git = (...args: readonly string[]): string =>
    execFileSync('git', [...args], {
      cwd: dir,
      env: { ...env, ...dates },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
    }).replace(/\n$/, '')
  const { bare = false, objectFormat = 'sha1' } = options
  // What stands elsewhere may be another kind of file system, which git looks at.
  if (options.under !== undefined)
    git('init', '--quiet', `--object-format=${objectFormat}`, ...refFormat(), ...(bare ? ['--bare'] : []))
  else layOut(bare ? dir : join(dir, '.git'), emptyRepository(bare, objectFormat))
  const remove = () => {
    if (process.env['KEEP_TEST_REPOS'] !== '1') rmSync(home, { recursive: true, force: true })
  }
  const repo: TestRepo = {
    dir,
    home,
    env,
    git,
    tryGit: (...args) => tryRun(() => git(...args)),
    write: (path, content) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true })
      writeFileSync(join(dir, path), content)
    },
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    bytes: (path) => readFileSync(join(dir, path)),
    commit: (message) => {
      git('add', '--all')
      git('commit', '--quiet', '--allow-empty', '-m', message)
      return git('rev-parse', 'HEAD')
    },
    snapshot: () => snapshot(repo),
    [Symbol.dispose]: remove,
    [Symbol.asyncDispose]: async () => remove(),
  }
  if (options.files !== undefined) {
    for (const [path, content] of Object.entries(options.files)) repo.write(path, content)
    git('add', '--all')
    git('commit', '--quiet', '--allow-empty', '-m', 'first')
  }
  return repo
}

/** `GALLEY_REF_FORMAT=reftable`: every repository keeps its refs so, where git is 2.45 or newer. */
function refFormat(): readonly string[] {
  const format = process.env['GALLEY_REF_FORMAT'] ?? ''
  return format === '' ? [] : [`--ref-format=${format}`]
}

/** What `git init` wrote, by its options: to write a few files takes a fraction of another git. */
const emptyRepositories = new Map<string, ReadonlyMap<string, Buffer | null>>()

function emptyRepository(bare: boolean, objectFormat: 'sha1' | 'sha256'): ReadonlyMap<string, Buffer | null> {
  const key = `${bare} ${objectFormat}`
  const known = emptyRepositories.get(key)
  if (known !== undefined) return known
  using made = makeRepo({ bare, objectFormat, under: tmpdir() })
  const root = bare ? made.dir : join(made.dir, '.git')
  const found = new Map<string, Buffer | null>()
  for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()) {
    // One of git's samples stands for all of them.
    if (path.endsWith('.sample') && !path.endsWith('/pre-commit.sample')) continue
    found.set(path, lstatSync(join(root, path)).isDirectory() ? null : readFileSync(join(root, path)))
  }
  emptyRepositories.set(key, found)
  return found
}

function layOut(root: string, content: ReadonlyMap<string, Buffer | null>): void {
  mkdirSync(root, { recursive: true })
  for (const [path, bytes] of content) {
    if (bytes === null) mkdirSync(join(root, path))
    else writeFileSync(join(root, path), bytes, { mode: path.endsWith('.sample') ? 0o755 : 0o644 })
  }
}

function tryRun(task: () => string): { readonly code: number; readonly out: string } {
  try {
    return { code: 0, out: task() }
  } catch (error) {
    const failed = error as { status?: number; stdout?: string; stderr?: string }
    return { code: failed.status ?? -1, out: `${failed.stdout ?? ''}${failed.stderr ?? ''}` }
  }
}

/** The last snapshot of each repository: where every byte is as it was, git would say what it said. */
const lastSnapshots = new WeakMap<TestRepo, { readonly key: string; readonly said: Snapshot }>()

function snapshot(repo: TestRepo): Snapshot {
  const { commonDir, gitDir, isBare } = placesOf(repo)
  // Looked at before any command that may write the index, and with the optional locks off.
  const bytes: Omit<Snapshot, 'index' | 'status'> = {
    head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
    gitFiles: digests(commonDir, (path) => path === 'galley'),
    files: isBare ? {} : digests(repo.dir, (path) => path === '.git'),
  }
  const key = JSON.stringify(bytes)
  const last = lastSnapshots.get(repo)
  if (last?.key === key) return last.said
  const said = { ...bytes, ...(isBare ? { index: '', status: '' } : askedOfGit(repo)) }
  lastSnapshots.set(repo, { key, said })
  return said
}

function askedOfGit(repo: TestRepo): { readonly index: string; readonly status: string } {
  const quiet = '--no-optional-locks'
  const status = ['status', '--porcelain=v2', '--branch', '--ignored', '--untracked-files=all']
  return { index: repo.git(quiet, 'ls-files', '-s', '-t', '-v'), status: repo.git(quiet, ...status) }
}

function placesOf(repo: TestRepo): {
  readonly commonDir: string
  readonly gitDir: string
  readonly isBare: boolean
} {
  const own = join(repo.dir, '.git')
  // The usual kind, for which git need not be asked.
  if (lstatSync(own, { throwIfNoEntry: false })?.isDirectory())
    return { commonDir: own, gitDir: own, isBare: false }
  const asked = ['--path-format=absolute', '--git-common-dir', '--git-dir', '--is-bare-repository']
  const [commonDir = '', gitDir = '', isBare] = repo.git('rev-parse', ...asked).split('\n')
  return { commonDir, gitDir, isBare: isBare === 'true' }
}

function digests(root: string, leaveOut: (path: string) => boolean): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (path: string): void => {
    for (const name of readdirSync(join(root, path)).sort()) {
      const child = path === '' ? name : `${path}/${name}`
      if (leaveOut(child)) continue
      const file = join(root, child)
      const stat = lstatSync(file)
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isDirectory()) {
        found[`${child}/`] = mode
        walk(child)
      } else if (stat.isSymbolicLink()) found[child] = `link ${readlinkSync(file)}`
      else if (stat.isFile())
        found[child] = `${mode} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`
      else found[child] = `special ${mode}`
    }
  }
  walk('')
  return found
}
