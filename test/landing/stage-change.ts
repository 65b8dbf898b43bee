import { readdirSync } from 'node:fs'
import { openImporter } from '../../src/git/fast-import.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { type LandReport, type LandRequest, landCommit } from '../../src/landing/land-commit.ts'
import { type CommitId, commitId, type RefName } from '../../src/model/ids.ts'
import { type FileMode, manifestOf, type Transition } from '../../src/model/manifest.ts'
import { openStore } from '../../src/store/open-store.ts'
import { systemClock } from '../../src/sys/clock.ts'
import type { TestRepo } from '../helpers/repo.ts'

/** What one path becomes: text, bytes, a link, a submodule's commit, or null for a deletion. */
export type NewContent =
  | string
  | Uint8Array
  | null
  | { readonly content: string; readonly executable: boolean }
  | { readonly link: string }
  | { readonly submodule: string }

export interface StageOptions {
  readonly ref?: string
  readonly before?: string | null
  readonly working?: LandRequest['working']
  readonly reach?: LandRequest['reach']
  /** Directory of the work tree to land into, when it is not the repository's own. */
  readonly from?: string
}

/** Stages a commit in the private store, as a proposal does, and gives the request that lands it. */
export async function stageChange(
  repo: TestRepo,
  changes: Readonly<Record<string, NewContent>>,
  options: StageOptions = {},
): Promise<LandRequest> {
  const repository = await openRepository(options.from ?? repo.dir, repo.env)
  const store = await openStore(repository)
  const head = repo.tryGit('-C', options.from ?? repo.dir, 'rev-parse', '-q', '--verify', 'HEAD')
  const before = options.before === undefined ? (head.code === 0 ? head.out : null) : options.before
  const who = { name: 'Agent', email: 'agent@example.org', date: '1700000100 +0000' }
  const importer = openImporter(store.door, { asPack: true })
  const { commit } = await importer.commit({
    parent: before === null ? null : commitId(before),
    author: who,
    committer: who,
    message: 'a change\n',
    changes: Object.entries(changes).map(([path, content]) => fileChange(path, content)),
  })
  await importer.finish()
  const branch = repo.tryGit('-C', options.from ?? repo.dir, 'symbolic-ref', '-q', 'HEAD')
  return {
    repository,
    store: store.door,
    galleyDir: store.galleyDir,
    label: 'gtest00000',
    ref: (options.ref ?? (branch.code === 0 ? branch.out : 'HEAD')) as RefName,
    before: before as CommitId | null,
    after: commit,
    manifest: transitions(repo, store.door.gitDir, before, commit),
    working: options.working ?? new Map(),
    reason: 'galley: land gtest00000',
    clock: systemClock,
    ...(options.reach === undefined ? {} : { reach: options.reach }),
  }
}

function fileChange(path: string, content: NewContent) {
  if (content === null) return { kind: 'delete', path } as const
  if (typeof content === 'object' && 'link' in content)
    return { kind: 'bytes', path, bytes: Buffer.from(content.link), mode: '120000' } as const
  if (typeof content === 'object' && 'submodule' in content)
    return { kind: 'blob', path, blob: content.submodule, mode: '160000' } as const
  const isPlain = typeof content === 'string' || content instanceof Uint8Array
  const bytes = Buffer.from(isPlain ? content : content.content)
  return { kind: 'bytes', path, bytes, mode: !isPlain && content.executable ? '100755' : '100644' } as const
}

function transitions(repo: TestRepo, storeDir: string, before: string | null, after: string) {
  const empty = repo.git('hash-object', '-t', 'tree', '/dev/null')
  const raw = repo.git(
    `--git-dir=${storeDir}`,
    'diff-tree',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    '--no-abbrev',
    before ?? empty,
    after,
  )
  const fields = raw.split('\0')
  const found: Transition[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode, newMode, oldBlob, newBlob] = (fields[i] ?? '').slice(1).split(' ')
    found.push({
      path: fields[i + 1] ?? '',
      oldMode: oldMode as FileMode,
      oldBlob: oldBlob ?? '',
      newMode: newMode as FileMode,
      newBlob: newBlob ?? '',
    })
  }
  return manifestOf(found)
}

/** Stages and lands in one go. */
export async function land(
  repo: TestRepo,
  changes: Readonly<Record<string, NewContent>>,
  options: StageOptions = {},
): Promise<LandReport & { readonly after: string }> {
  const request = await stageChange(repo, changes, options)
  return { ...(await landCommit(request)), after: request.after }
}

/** The code that a landing is refused with; fails when it is not refused. */
export async function refusalOf(task: Promise<unknown>): Promise<string> {
  return task.then(
    () => {
      throw new Error('it landed')
    },
    (error: { code?: string; message?: string }) => error.code ?? `no code: ${error.message}`,
  )
}

/** Locks and temporary files that no landing may leave, anywhere in the work tree or its git directory. */
export function leftovers(repo: TestRepo): readonly string[] {
  const names = readdirSync(repo.dir, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => /\.lock(?:$|\.)|(?:^|\/)\.galley-|galley\/land\/./.test(name))
}
