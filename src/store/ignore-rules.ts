import { dirname, isAbsolute, join } from 'node:path'
import { configEntries, plainPath } from '../git/config-snapshot.ts'
import { git } from '../git/door.ts'
import type { Repository } from '../git/open-repository.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { homeDirectory } from '../sys/home.ts'
import { replaceQuickly } from '../sys/quick-files.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import type { Store } from './open-store.ts'

/**
 * Gives the scratch trees the ignore rules that the user has beside the repository's own: `.git/info/exclude` and
 * core.excludesFile. What the user's git would leave out is then left out there too.
 *
 * Leaves `info/exclude` in the store. No process of its own, but for a path that only git resolves.
 */
export async function copyIgnoreRules(repository: Repository, store: Store): Promise<void> {
  const files = [await excludesFile(repository), join(repository.commonDir, 'info', 'exclude')]
  const parts = await Promise.all(files.map((file) => readFileOrNull(file)))
  const rules = Buffer.concat(parts.flatMap((bytes) => (bytes === null ? [] : [bytes, Buffer.from('\n')])))
  const file = ignoreFile(store)
  const before = await readFileOrNull(file)
  if (before?.equals(rules) === true) return
  await makePrivateDirectory(dirname(file))
  await replaceQuickly(file, rules)
}

/** Where the rules stand that hold in every scratch tree. */
export const ignoreFile = (store: Store): string => join(store.door.gitDir, 'info', 'exclude')

/** As git finds it: the configuration, or the file of this name in the user's configuration folder. */
async function excludesFile(repository: Repository): Promise<string> {
  const known = plainPath(await configEntries(repository.door), 'core.excludesfile')
  const set = known === null ? await resolvedByGit(repository) : (known?.value ?? '')
  if (set !== '') return isAbsolute(set) ? set : join(repository.workTree ?? repository.gitDir, set)
  const { env } = repository
  const config = env['XDG_CONFIG_HOME'] || join(homeDirectory(env), '.config')
  return join(config, 'git', 'ignore')
}

async function resolvedByGit({ door }: Repository): Promise<string> {
  const args = ['config', '-z', '--type=path', '--get', 'core.excludesFile']
  const { stdout } = await git(door, { args, okCodes: [0, 1, 128] })
  return stdout.toString('utf8').split('\0')[0] ?? ''
}
