import { join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { readUserCheckout, type UserCheckout } from '../git/user-checkout.ts'
import { type CommitId, isObjectId, type RefName } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { configText, type Setting, settingsForTree } from '../policy/tree-settings.ts'
import { modifiedMs } from '../sys/file-ages.ts'
import { type FolderContent, makeFolder } from '../sys/folder-anew.ts'
import { isThere, replaceQuickly } from '../sys/quick-files.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { removeAllInTree } from '../sys/tree-files.ts'
import { removeTree } from '../sys/trees.ts'
import { ignoreFile } from './ignore-rules.ts'
import type { Store } from './open-store.ts'
import type { ScratchTree } from './scratch.ts'

/**
 * What is written into the `.git` of a tree in which foreign code or a person works: the user's refs and settings as they are now, and the
 * branch that the change is for. Nothing of it leads back to where it was read, but for objects, which are read only.
 */
export interface OwnPlan {
  readonly repository: Repository
  readonly store: Store
  /** null = HEAD is detached, as the user's is. */
  readonly branch: RefName | null
  readonly who: Pick<Person, 'name' | 'email'>
  readonly checkout: UserCheckout
}

/** What a tree was given, for comparing it with what it has become. Kept beside the tree, out of reach of git in it. */
export interface HandedOut {
  readonly version: 1
  /** What HEAD came to; null = the branch was unborn. */
  readonly commit: CommitId | null
  readonly branch: RefName | null
  /** Every ref by its full name, the branch among them. */
  readonly refs: Readonly<Record<string, string>>
  /** The text of the configuration file. */
  readonly config: string
  /** Files of the user's that were copied in, and are nobody's work. */
  readonly brought: readonly string[]
}

/** As it is read: with the time when it was written, by the file system's own clock. Everything that the tree was given is older. */
export interface GivenOut extends HandedOut {
  readonly atMs: number
}

/** A tree's repository: what is in `gitDir` is the word of whoever worked there. Galley runs no git in it. */
export interface OwnRepository {
  readonly gitDir: string
  readonly workTree: string
  /** null = nothing is known of what it was given. */
  readonly handedOut: GivenOut | null
}

const ownGitDirectory = (tree: Pick<ScratchTree, 'path'>): string => join(tree.path, '.git')
const handedOutFile = (tree: Pick<ScratchTree, 'path'>): string => `${tree.path}.given.json`

/** Reads what the trees of one verb are given. Two processes at once. */
export async function planOwnRepository(
  repository: Repository,
  store: Store,
  about: Pick<OwnPlan, 'who'> & { readonly onto: RefName },
): Promise<OwnPlan> {
  const checkout = await readUserCheckout(repository.door)
  const branch = isWritable(about.onto, checkout) ? about.onto : null
  return { repository, store, branch, who: about.who, checkout }
}

/** A branch that is not there yet may have no place beside one that is. */
function isWritable(ref: RefName, { refs }: UserCheckout): boolean {
  if (!ref.startsWith('refs/heads/') || ref.includes('\ufffd')) return false
  return refs.every((other) => !other.ref.startsWith(`${ref}/`) && !ref.startsWith(`${other.ref}/`))
}

export interface OwnState {
  /** Where HEAD, and with it the branch, stands; null = the branch is unborn. */
  readonly head: CommitId | null
  /** The index to begin with, which git in the tree goes on with. */
  readonly index: string
  /** Ignored files of the user's that were copied in. */
  readonly brought?: readonly string[]
}

/**
 * Writes a tree's own repository anew, in place of whatever stood there: HEAD, refs, settings, index, no stash, no hooks but one that
 * refuses a push. No process.
 *
 * Leaves what was given in a file beside the tree.
 */
export async function writeOwnRepository(tree: ScratchTree, plan: OwnPlan, state: OwnState): Promise<void> {
  const { branch, checkout } = plan
  const { head } = state
  const config = configText(await settingsOf(tree, plan))
  const refs = checkout.refs.filter((row) => row.ref !== branch)
  await removeAllInTree(tree.path, '.git')
  makeFolder(ownGitDirectory(tree), await contentOf(tree, plan, { ...state, config }))
  const given: HandedOut = {
    version: 1,
    commit: head,
    branch,
    refs: Object.fromEntries([
      ...refs.map((row) => [row.ref, row.object] as const),
      ...(branch === null || head === null ? [] : [[branch, head] as const]),
    ]),
    config,
    brought: state.brought ?? [],
  }
  await replaceQuickly(handedOutFile(tree), `${JSON.stringify(given)}\n`)
}

/** Takes a tree's own repository away, and what is remembered of it. */
export async function removeOwnRepository(tree: Pick<ScratchTree, 'path'>): Promise<void> {
  await removeAllInTree(tree.path, '.git')
  await forgetHandedOut(tree)
}

export const forgetHandedOut = (tree: Pick<ScratchTree, 'path'>): Promise<void> =>
  removeTree(handedOutFile(tree))

/** The repository of a tree, and what it was given. */
export async function ownRepositoryOf(tree: Pick<ScratchTree, 'path'>): Promise<OwnRepository> {
  return { gitDir: ownGitDirectory(tree), workTree: tree.path, handedOut: await readHandedOut(tree) }
}

async function readHandedOut(tree: Pick<ScratchTree, 'path'>): Promise<GivenOut | null> {
  const atMs = modifiedMs(handedOutFile(tree))
  const bytes = await readFileOrNull(handedOutFile(tree))
  if (bytes === null) return null
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isHandedOut(value) ? { ...value, atMs } : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

const isId = (value: unknown): boolean => typeof value === 'string' && isObjectId(value)

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

/** It lies beside the tree, where code that runs in the tree can write too. */
function isHandedOut(value: unknown): value is HandedOut {
  const given = value as Partial<HandedOut> | null
  return (
    given?.version === 1 &&
    (given.commit === null || isId(given.commit)) &&
    (given.branch === null || typeof given.branch === 'string') &&
    typeof given.config === 'string' &&
    typeof given.refs === 'object' &&
    Object.values(given.refs ?? { none: null }).every(isId) &&
    isTexts(given.brought)
  )
}

async function contentOf(
  tree: ScratchTree,
  { repository, store, branch, checkout }: OwnPlan,
  { head, index, config }: OwnState & { readonly config: string },
): Promise<FolderContent> {
  const files = new Map<string, string | Uint8Array>([
    ['config', config],
    ['objects/info/alternates', [store.door.gitDir, repository.commonDir].map(alternateLine).join('')],
    ['packed-refs', packedRefs(checkout, branch)],
    ['info/exclude', (await readFileOrNull(ignoreFile(store))) ?? ''],
    ['HEAD', branch === null ? `${head ?? ''}\n` : `ref: ${branch}\n`],
  ])
  for (const { ref, target } of checkout.refs)
    if (target !== null && ref !== branch) files.set(ref, `ref: ${target}\n`)
  if (branch !== null && head !== null) files.set(branch, `${head}\n`)
  const shallow = await readFileOrNull(join(repository.commonDir, 'shallow'))
  if (shallow !== null) files.set('shallow', shallow)
  const sparse = await sparseOf(tree, checkout)
  if (sparse !== null) files.set('info/sparse-checkout', sparse.rules)
  return {
    directories: ['objects/pack', 'refs/heads', 'refs/tags', 'logs', 'hooks'],
    files,
    programs: new Map([['hooks/pre-push', PRE_PUSH]]),
    copies: isThere(index) ? new Map([['index', index]]) : new Map(),
  }
}

/** A full tree has the user's rules, the small form galley's own cone, which its view knows. */
async function sparseOf(
  tree: ScratchTree,
  { sparse }: UserCheckout,
): Promise<{ readonly rules: Uint8Array; readonly isCone: boolean } | null> {
  if (tree.form === 'full')
    return sparse === null ? null : { rules: Buffer.from(sparse.text, 'latin1'), isCone: sparse.isCone }
  const rules = await readFileOrNull(join(tree.door.gitDir, 'info', 'sparse-checkout'))
  return rules === null ? null : { rules, isCone: true }
}

/** A name that git would read as something else is written in quotes. */
function alternateLine(gitDir: string): string {
  const path = join(gitDir, 'objects')
  const isPlain = !/^["#]|[\n\r\\]/.test(path)
  return isPlain ? `${path}\n` : `"${path.replaceAll(/["\\]/g, (c) => `\\${c}`).replaceAll('\n', '\\n')}"\n`
}

/** Without the word `peeled`: git looks at a tag itself where it wants to know what it stands for. */
function packedRefs({ refs }: UserCheckout, branch: RefName | null): string {
  const lines = refs
    .filter(({ ref, target }) => target === null && ref !== branch)
    .map(({ ref, object }) => ({ name: Buffer.from(ref, 'utf8'), line: `${object} ${ref}\n` }))
    .sort((a, b) => a.name.compare(b.name))
  return `# pack-refs with: sorted \n${lines.map(({ line }) => line).join('')}`
}

const NO_PUSH =
  'a tree of galley pushes nothing; what is done here becomes a change, which lands and is pushed from there'

/** Asked where an address is named; remotes have none that works. */
const PRE_PUSH = `#!/bin/sh\necho "galley: ${NO_PUSH}" >&2\nexit 1\n`

async function settingsOf(tree: ScratchTree, plan: OwnPlan): Promise<readonly Setting[]> {
  const { repository, who, checkout } = plan
  const { settings } = checkout
  const kept = settingsForTree(settings, { root: repository.workTree ?? repository.commonDir })
  const remotes = new Set(settings.flatMap(({ key }) => /^remote\.(.+)\.[a-z]+$/s.exec(key)?.[1] ?? []))
  const sparse = await sparseOf(tree, checkout)
  const partial = settings.findLast(({ key }) => key === 'extensions.partialclone')?.value
  const isSha256 = repository.objectFormat === 'sha256'
  const set = (key: string, value: string): Setting => ({ key, value })
  return [
    set('core.repositoryformatversion', partial === undefined && !isSha256 ? '0' : '1'),
    ...(isSha256 ? [set('extensions.objectformat', 'sha256')] : []),
    ...(partial === undefined ? [] : [set('extensions.partialclone', partial)]),
    set('core.bare', 'false'),
    set('core.logallrefupdates', 'true'),
    ...(sparse === null
      ? []
      : [set('core.sparsecheckout', 'true'), set('core.sparsecheckoutcone', `${sparse.isCone}`)]),
    // The index of the small form is folded up; that of a full tree never is, whatever the user's is.
    ...(sparse !== null && tree.form === 'small' ? [set('index.sparse', 'true')] : []),
    // A collection in the background would write when the tree has been given to somebody else.
    set('gc.auto', '0'),
    set('maintenance.auto', 'false'),
    ...kept.filter(({ key }) => key !== 'user.name' && key !== 'user.email'),
    // Who they are by all of their configuration, wherever that says so.
    set('user.name', who.name),
    set('user.email', who.email),
    ...[...remotes].map((remote) => set(`remote.${remote}.pushurl`, `/dev/null/galley: ${NO_PUSH}`)),
  ]
}
