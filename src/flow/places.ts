import { resolve, sep } from 'node:path'
import { absentAsNull } from '../model/errno.ts'
import { refuse } from '../model/error.ts'
import { quote } from '../policy/quote.ts'
import { isDirectory } from '../sys/directories.ts'
import { realPath } from '../sys/real-path.ts'
import { runVerb } from './run-verb.ts'
import type { World } from './world.ts'

/** The repositories that a long-lived surface may work in: those of the directories that it was started with, and those below them. */
export interface Places {
  /** The directories, as they were given. */
  readonly directories: readonly string[]
  /**
   * Runs a verb in the repository that holds `named`; by default in the one of the only directory.
   *
   * @throws GalleyError `usage`, where several directories leave it open which is meant; `outside-repository`, for a place that was not
   * allowed; the codes of `openWorld` and of the verb.
   */
  readonly use: <T>(named: string | undefined, verb: (world: World) => Promise<T>) => Promise<T>
  /** Waits for the verbs that run, and closes what is open. */
  readonly close: () => Promise<void>
}

export interface PlacesOptions {
  /** Absolute paths. */
  readonly directories: readonly string[]
  readonly open: (directory: string) => Promise<World>
  /** How long a repository that nobody uses stays open: others must not take an idle server for a process at work. */
  readonly idleMs: number
}

interface Opened {
  readonly world: World
  users: number
  timer: NodeJS.Timeout | null
}

/** Opens repositories as they are asked for. */
export function openPlaces({ directories, open, idleMs }: PlacesOptions): Places {
  const opened = new Map<string, Promise<Opened>>()
  const running = new Set<Promise<unknown>>()

  const closeOne = async (directory: string): Promise<void> => {
    const found = opened.get(directory)
    opened.delete(directory)
    const [settled] = await Promise.allSettled(found === undefined ? [] : [found])
    if (settled?.status !== 'fulfilled') return
    if (settled.value.timer !== null) clearTimeout(settled.value.timer)
    await settled.value.world.close()
  }

  const openOne = (directory: string): Promise<Opened> => {
    const known = opened.get(directory)
    if (known !== undefined) return known
    const made = openAllowed({ directories, open }, directory).then((world) => ({
      world,
      users: 0,
      timer: null,
    }))
    opened.set(directory, made)
    made.catch(() => opened.delete(directory))
    return made
  }

  const use = async <T>(named: string | undefined, verb: (world: World) => Promise<T>): Promise<T> => {
    const directory = await allowedDirectory(directories, named)
    const place = await openOne(directory)
    place.users++
    if (place.timer !== null) clearTimeout(place.timer)
    place.timer = null
    try {
      return await runVerb(place.world, () => verb(place.world))
    } finally {
      place.users--
      if (place.users === 0) {
        place.timer = setTimeout(() => void closeOne(directory), idleMs)
        place.timer.unref()
      }
    }
  }

  return {
    directories,
    use: (named, verb) => {
      const task = use(named, verb)
      running.add(task)
      const forget = () => running.delete(task)
      task.then(forget, forget)
      return task
    },
    close: async () => {
      await Promise.allSettled(running)
      await Promise.all([...opened.keys()].map(closeOne))
    },
  }
}

async function allowedDirectory(directories: readonly string[], named: string | undefined): Promise<string> {
  const [only] = directories
  if (named === undefined) {
    if (only !== undefined && directories.length === 1) return only
    const names = directories.map(quote).join(', ')
    refuse(
      'usage',
      `there are several repositories here: ${names}`,
      { directories },
      'Name one: "repository".',
    )
  }
  const real = named.includes('\0') ? null : await realPathOrNull(resolve(only ?? sep, named))
  for (const directory of real === null ? [] : directories) {
    const allowed = await realPathOrNull(directory)
    if (real === null || allowed === null || !isWithin(real, allowed)) continue
    if (await isDirectory(real)) return real
    refuse('not-a-repository', `${quote(named)} is not a directory`, { named })
  }
  refuseOutside(directories, named)
}

/** A directory below an allowed one may lead elsewhere by its `.git` or its configuration. */
async function openAllowed(
  { directories, open }: Pick<PlacesOptions, 'directories' | 'open'>,
  directory: string,
): Promise<World> {
  const world = await open(directory)
  if (directories.includes(directory) || (await isOfThese(world, { directories, open }))) return world
  await world.close()
  refuseOutside(directories, directory)
}

/** Whether work tree and git directory lie below an allowed directory, or the repository is that of an allowed directory itself. */
async function isOfThese(
  { repository }: World,
  { directories, open }: Pick<PlacesOptions, 'directories' | 'open'>,
): Promise<boolean> {
  const places = await Promise.all(
    [repository.workTree ?? repository.gitDir, repository.commonDir].map(realPathOrNull),
  )
  for (const directory of directories) {
    const allowed = await realPathOrNull(directory)
    if (allowed !== null && places.every((place) => place !== null && isWithin(place, allowed))) return true
    const world = await open(directory).catch(() => null)
    const isSame =
      world?.repository.gitDir === repository.gitDir && world.repository.workTree === repository.workTree
    await world?.close()
    if (isSame) return true
  }
  return false
}

const realPathOrNull = (path: string): Promise<string | null> => realPath(path).catch(absentAsNull)

const isWithin = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)

function refuseOutside(directories: readonly string[], named: string): never {
  const names = directories.map(quote).join(', ')
  refuse(
    'outside-repository',
    `${quote(named)} is not in a repository that was allowed at the start`,
    { named, directories },
    `Only these are, and what lies below them: ${names}. A person allows others: \`galley mcp <directory>…\`.`,
  )
}
