import { join } from 'node:path'
import { makePrivateDirectory } from '../sys/directories.ts'
import { readFileOrNull, writePassing } from '../sys/small-files.ts'
import { type ConfigValues, configBoolean } from './config-values.ts'
import { type GitDoor, git } from './door.ts'

/**
 * Asks git which of the paths a sparse checkout leaves out, by its own rules, whatever they are (cone or
 * patterns): in a passing repository in `scratch` whose files are all empty. Nothing of the user's is read
 * but the file with the rules. (`sparse-checkout check-rules` would tell it in one process, from git 2.41
 * on.)
 */
export async function outsideSparseCheckout(
  user: GitDoor,
  config: ConfigValues,
  paths: readonly string[],
  scratch: string,
): Promise<ReadonlySet<string>> {
  const rules = await readFileOrNull(join(user.gitDir, 'info', 'sparse-checkout'))
  if (rules === null || paths.length === 0) return new Set()
  const workTree = join(scratch, 'sparse')
  const gitDir = join(workTree, '.git')
  await makePrivateDirectory(workTree)
  const door: GitDoor = { ...user, kind: 'store', gitDir, workTree }
  await git(door, { args: ['init', '--quiet', '--template=', `--object-format=${user.objectFormat}`] })
  await makePrivateDirectory(join(gitDir, 'info'))
  await writePassing(join(gitDir, 'info', 'sparse-checkout'), rules)
  const empty = (await git(door, { args: ['hash-object', '-w', '--stdin'], input: '' })).stdout
    .toString('latin1')
    .trim()
  const isCone = configBoolean(config, 'core.sparsecheckoutcone', false)
  const settings = [
    '-c',
    'core.sparseCheckout=true',
    '-c',
    `core.sparseCheckoutCone=${isCone}`,
    '-c',
    'index.sparse=false',
  ]
  const entries = paths.map((path) => `100644 ${empty}\t${path}\0`).join('')
  await git(door, { args: [...settings, 'update-index', '-z', '--index-info'], input: entries })
  await git(door, { args: [...settings, 'sparse-checkout', 'reapply'] })
  const listed = (await git(door, { args: [...settings, 'ls-files', '-z', '-t'] })).stdout
    .toString('utf8')
    .split('\0')
  return new Set(listed.filter((line) => line.startsWith('S ')).map((line) => line.slice(2)))
}
