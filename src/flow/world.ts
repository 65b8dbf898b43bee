import { join } from 'node:path'
import { type GitConfig, readConfig, readIdentity } from '../git/config.ts'
import { type ObjectReader, openObjectReader } from '../git/objects.ts'
import { openRepository, type Repository } from '../git/open-repository.ts'
import { type HeadPlace, headOf, resolveCommit } from '../git/refs.ts'
import { refuse } from '../model/error.ts'
import type { CommitId, RefName } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import { type AtWork, beginWork } from '../store/at-work.ts'
import { findStore, galleyDirectory, openStore, type Store } from '../store/open-store.ts'
import { refuseForeignFolder } from '../store/own-folder.ts'
import type { Clock } from '../sys/clock.ts'
import { type Log, openLog } from '../sys/log.ts'
import { readFileOrNull } from '../sys/small-files.ts'
import { listDirectory } from '../sys/trees.ts'

/**
 * What a verb works in: one repository, its store, one running object reader, time and randomness.
 *
 * Everything is opened at first use and remembered until `close`; what can change between two verbs (HEAD, the branch's
 * tip) is asked each time.
 */
export interface World {
  readonly repository: Repository
  readonly clock: Clock
  /** A list of allowed signers that a verifier was given in place of the policy's: an absolute path. Never for a landing. */
  readonly allowedSigners?: string
  readonly store: () => Promise<Store>
  /** This process among those that write in the store, from the first time that it is asked for; says so again each time. */
  readonly atWork: () => Promise<AtWork>
  /** Reads objects of both repositories: the store's alternate is the user's. */
  readonly reader: () => Promise<ObjectReader>
  readonly config: () => Promise<GitConfig>
  readonly identity: () => Promise<Person>
  readonly head: () => Promise<Head>
  /** After something that may have taken its time or moved the branch: HEAD is asked for again. */
  readonly forgetHead: () => void
  /** The commit that a branch is at; null = there is none. */
  readonly tipOf: (ref: RefName) => Promise<CommitId | null>
  readonly now: () => string
  /** What every answer of this world's is to say beside itself. */
  readonly notices: Set<string>
  readonly log: Log
  /** Says what takes long and how far it is, for whoever waits at a terminal; `''` = nothing does any more. Changes nothing. */
  readonly progress: (text: string) => void
  /** A verb could not do to the end what it had begun: what it was making may lie about, and the next one looks for it. */
  readonly noteFailure: () => void
  /** Counts a verb of a caller that may ask for several at once: to each of them, the others are at work like other processes. */
  readonly whileRunning: <T>(verb: () => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
}

export interface Head {
  /** The branch that HEAD names, born or not; `HEAD` itself when detached. */
  readonly ref: RefName
  /** null = unborn. */
  readonly tip: CommitId | null
  readonly detached: boolean
}

export interface WorldOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly onProgress?: (text: string) => void
  /** Opened for one verb that begins now. */
  readonly isForOneVerb?: boolean
}

/**
 * Opens the repository that holds `directory`.
 *
 * @throws GalleyError `not-a-repository`, `dubious-ownership`, `unsupported-repository`, `git-too-old`.
 */
export async function openWorld(directory: string, options: WorldOptions): Promise<World> {
  const repository = await openRepository(directory, options.env)
  await refuseOwnTree(repository)
  let begun: Promise<AtWork> | null = null
  let hasFailed = false
  let running = 0
  const withOwnVerbs = (working: AtWork): AtWork => ({
    ...working,
    others: async (galleyDir) => {
      const found = await working.others(galleyDir)
      return { ...found, alive: found.alive + Math.max(0, running - 1) }
    },
  })
  const atWork = async () => {
    const isAgain = begun !== null
    begun ??= beginWork(galleyDirectory(repository), options.clock).catch((error: unknown) => {
      begun = null
      throw error
    })
    const working = await begun
    if (isAgain) await working.renew()
    return withOwnVerbs(working)
  }
  const store = once(async () => {
    // Making it is a write that can be cut off.
    if ((await findStore(repository)) === null) await atWork()
    return openStore(repository)
  })
  const identity = once(() => readIdentity(repository.door))
  let reader: Promise<ObjectReader> | null = null
  const log = openLog(galleyDirectory(repository))
  return {
    repository,
    clock: options.clock,
    store,
    atWork,
    reader: () => {
      reader ??= store().then((s) => openObjectReader(s.door))
      return reader
    },
    config: () => readConfig(repository.door),
    identity: () => identity().then((who) => ({ ...who, date: gitDate(options.clock.now()) })),
    ...headIn(repository, options),
    now: () => new Date(options.clock.now()).toISOString(),
    notices: new Set(),
    log,
    progress: options.onProgress ?? (() => undefined),
    noteFailure: () => {
      hasFailed = true
    },
    whileRunning: async (verb) => {
      running++
      try {
        return await verb()
      } finally {
        running--
      }
    },
    close: async () => {
      // One that could not be opened was told of where it was asked for.
      const [opened] = await Promise.allSettled(reader === null ? [] : [reader])
      if (opened?.status === 'fulfilled') await opened.value.close()
      const [working] = await Promise.allSettled(begun === null ? [] : [begun])
      if (working?.status === 'fulfilled') await working.value.end(hasFailed)
      await log.close()
    },
  }
}

/** A moment as git writes it: seconds, and the zone of this machine at that moment. */
function gitDate(nowMs: number): string {
  const ahead = -new Date(nowMs).getTimezoneOffset()
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60].map((n) =>
    String(n).padStart(2, '0'),
  )
  return `${Math.floor(nowMs / 1000)} ${ahead < 0 ? '-' : '+'}${hours}${minutes}`
}

/**
 * Whether a landing may have been cut off here: one look at galley's folder.
 *
 * @throws GalleyError `unsupported-repository`, where something else stands in its place.
 */
export async function mayBeInterrupted({ repository }: Pick<World, 'repository'>): Promise<boolean> {
  const galleyDir = galleyDirectory(repository)
  refuseForeignFolder(galleyDir)
  const names = await listDirectory(galleyDir)
  return names.some((name) => name === 'land' || name.startsWith('landing.lock'))
}

/** A scratch tree belongs to the repository that it was made for: a second galley in it would lead a life of its own. */
async function refuseOwnTree({ commonDir, workTree }: Repository): Promise<void> {
  const alternates = await readFileOrNull(join(commonDir, 'objects', 'info', 'alternates'))
  const stores = [commonDir, ...(alternates?.toString('utf8').split('\n') ?? [])]
  const store = stores.flatMap(
    (path) => /^"?(.*)[/\\]galley[/\\]store\.git(?:[/\\]objects"?)?$/.exec(path)?.[1] ?? [],
  )[0]
  if (store === undefined) return
  const owner = store.replace(/[/\\]\.git$/, () => '')
  refuse(
    'unsupported-repository',
    `${workTree ?? commonDir} is a scratch tree of galley's, not a repository to work in`,
    { owner },
    `Run galley in ${owner}.`,
  )
}

const asHead = ({ branch, tip }: HeadPlace): Head => ({
  ref: branch ?? ('HEAD' as RefName),
  tip,
  detached: branch === null,
})

const HEAD_STAYS_MS = 5000

/** HEAD as the opening told it counts for the first question of a process that opened the repository for one verb. */
function headIn(
  { door, headThen }: Repository,
  { isForOneVerb, clock }: WorldOptions,
): Pick<World, 'head' | 'forgetHead' | 'tipOf'> {
  const opened = clock.now()
  let left = isForOneVerb === true ? headThen : null
  const takeEarly = () => {
    const early = clock.now() - opened < HEAD_STAYS_MS ? left : null
    left = null
    return early
  }
  return {
    head: async () => asHead(takeEarly() ?? (await headOf(door))),
    forgetHead: takeEarly,
    tipOf: async (ref) => {
      const early = takeEarly()
      return early !== null && early.branch === ref ? early.tip : resolveCommit(door, ref)
    },
  }
}

/** A failure is not remembered: its reason may have gone. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null
      throw error
    })
    return made
  }
}
