import { isAbsolute, join, resolve } from 'node:path'
import { readFileOrNull } from '../sys/small-files.ts'
import { configValues } from './config-values.ts'
import { type GitDoor, git, type PromisorAccess } from './door.ts'
import type { Repository } from './open-repository.ts'
import { askingVariables } from './sign-commit.ts'
import { transportSettings, transportVariables } from './transport.ts'

/**
 * How the store's git may fetch objects that a partial clone of the user's lacks: from the user's own promisor remotes, by their URLs, filters,
 * and way to reach them. null = the repository is no partial clone.
 *
 * What is fetched so lies in the store: the user's object store stays as it is.
 */
export async function promisorAccess(repository: Repository): Promise<PromisorAccess | null> {
  // One look at a file tells all but a few repositories apart; the rest costs processes.
  const text = (await readFileOrNull(join(repository.commonDir, 'config')))?.toString('latin1') ?? ''
  if (!/promisor|partialclone/i.test(text)) return null
  const names = await promisorNames(repository.door)
  const remotes = await Promise.all(
    names.map(async ({ name, filter }, i) =>
      settingsOf(`galley-promisor-${i}`, await urlOf(repository, name), filter),
    ),
  )
  if (remotes.length === 0) return null
  return {
    settings: [...(await transportSettings(repository.door)), ...remotes.flat()],
    env: { ...askingVariables(repository.env), ...transportVariables(repository.env) },
  }
}

async function promisorNames(door: GitDoor) {
  const values = await configValues(
    door,
    '^(extensions\\.partialclone|remote\\..*\\.(promisor|partialclonefilter))$',
  )
  const named = values.get('extensions.partialclone')
  const marked = [...values].flatMap(([key, value]) => {
    const name = /^remote\.(.+)\.promisor$/s.exec(key)?.[1]
    return name !== undefined && value !== 'false' ? [name] : []
  })
  const names = new Set([...(named === undefined ? [] : [named]), ...marked])
  return [...names].map((name) => ({
    name,
    filter: values.get(`remote.${name}.partialclonefilter`) ?? 'blob:none',
  }))
}

/** Rewritten as the user's `insteadOf` says; a path is made absolute, since the store lies elsewhere. */
async function urlOf({ door, workTree, gitDir }: Repository, name: string): Promise<string> {
  const { stdout } = await git(door, { args: ['ls-remote', '--get-url', '--end-of-options', name] })
  const url = stdout.toString('utf8').trim()
  const isPath = !isAbsolute(url) && !/^[^/]*:/.test(url)
  return isPath ? resolve(workTree ?? gitDir, url) : url
}

/** With a filter that is set, git writes none into the store's configuration. */
const settingsOf = (name: string, url: string, filter: string): readonly (readonly [string, string])[] => [
  [`remote.${name}.url`, url],
  [`remote.${name}.promisor`, 'true'],
  [`remote.${name}.partialclonefilter`, filter],
]

/** The door without a way to what is missing: for work that passes over it. */
export function withoutPromisor(door: GitDoor): GitDoor {
  const { promisor: _, ...rest } = door
  return rest
}
