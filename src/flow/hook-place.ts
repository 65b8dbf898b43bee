import { basename, dirname, join, relative, sep } from 'node:path'
import { hooksPath } from '../git/hooks-path.ts'
import type { Repository } from '../git/open-repository.ts'
import type { CommitHook, HookFile, HookName, HookOwner, HookPlace } from '../model/hook.ts'
import { callsOf, type HookFacts, readHookText } from '../policy/hook-plan.ts'
import { readScript } from '../sys/hook-files.ts'
import { realPath } from '../sys/real-path.ts'

/** Finds out where git looks for hooks here, and whose place that is. Reads only. */
export async function findHookPlace(repository: Repository): Promise<HookPlace> {
  const { directory, scope } = await hooksPath(repository)
  return { kind: await kindOf(repository, directory, scope), directory, scope }
}

async function kindOf(
  repository: Repository,
  directory: string,
  scope: string | null,
): Promise<HookPlace['kind']> {
  const real = await realPath(directory)
  const isIn = (parent: string): boolean => {
    const way = relative(parent, real)
    return way !== '' && way !== '..' && !way.startsWith(`..${sep}`)
  }
  if (isIn(await realPath(repository.commonDir))) return 'own'
  if (scope === 'global' || scope === 'system') return 'shared'
  const root = repository.workTree === null ? null : await realPath(repository.workTree)
  if (root === null || !isIn(root)) return 'shared'
  const stub = basename(directory) === '_' ? await readScript(join(directory, 'h')) : null
  return stub?.kind === 'file' && stub.bytes.includes('husky') ? 'husky' : 'work-tree'
}

/** Where managers are told what to run; a line of ours may stand there. */
const MANAGER_FILES: Readonly<Partial<Record<HookOwner, readonly string[]>>> = {
  lefthook: ['lefthook.yml', 'lefthook.yaml', '.lefthook.yml', '.lefthook.yaml', 'lefthook-local.yml'],
  'pre-commit': ['.pre-commit-config.yaml'],
}

type AnyHook = HookName | CommitHook

/** What the manager's own file calls for this hook. */
async function callsOfManager(root: string, owner: HookOwner, name: AnyHook) {
  for (const file of MANAGER_FILES[owner] ?? []) {
    const found = await readScript(join(root, file))
    const calls = found.kind === 'file' ? callsOf(found.bytes.toString('utf8'), name) : 'nothing'
    if (calls !== 'nothing') return calls
  }
  return 'nothing'
}

async function withManager(file: HookFile, root: string | null, name: AnyHook): Promise<HookFile> {
  if (file.kind !== 'file' || file.calls !== 'nothing' || root === null) return file
  return { ...file, calls: await callsOfManager(root, file.owner, name) }
}

/**
 * Looks at every file that a hook's step depends on.
 *
 * @param root - Of the work tree, where managers keep their files.
 */
export async function readHookFacts<Name extends AnyHook>(
  place: HookPlace,
  root: string | null,
  name: Name,
  wanted: string,
): Promise<HookFacts<Name>> {
  const stub = join(place.directory, name)
  const hasStub = place.kind === 'husky' && (await readScript(stub)).kind === 'file'
  // husky's stub runs the script of its name in the folder above, which is the team's own.
  const ofTeam = hasStub && (await readHookFile(stub, name, wanted)).owner !== 'galley'
  const path = ofTeam ? join(dirname(place.directory), name) : stub
  const previousPath = join(place.directory, 'galley-prev', name)
  const { file } = await readHookFile(path, name, wanted)
  return {
    name,
    path,
    file: await withManager(file, root, name),
    legacy: (await readHookFile(`${path}.legacy`, name, wanted)).file,
    previousPath,
    previous: (await readHookFile(previousPath, name, wanted)).file,
    hasStub: ofTeam,
  }
}

async function readHookFile(path: string, name: AnyHook, wanted: string) {
  const found = await readScript(path)
  const file: HookFile =
    found.kind === 'file' ? readHookText(found.bytes.toString('utf8'), name, wanted) : found
  return { file, owner: file.kind === 'file' ? file.owner : null }
}
