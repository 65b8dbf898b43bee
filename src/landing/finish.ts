import { dirname, join } from 'node:path'
import type { ConfigValues } from '../git/config-values.ts'
import { refreshIndex } from '../git/index-update.ts'
import type { Repository } from '../git/open-repository.ts'
import { runHook } from '../git/run-hook.ts'
import { filterless } from '../git/without-filters.ts'
import { isSet } from '../policy/agent-environment.ts'
import { findJournal, holdsDisplaced } from '../store/find-journal.ts'
import { doneRoot, type LandingJournal, landDirectory, landRoot } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import {
  makePrivateDirectory,
  moveOwnDirectory,
  namesIn,
  removeDirectoryIfEmpty,
  removeOwnDirectory,
} from '../sys/directories.ts'
import { fileExists } from '../sys/small-files.ts'
import { removeEmptyDirectory } from '../sys/swap-file.ts'
import { keptRemarks } from './backup.ts'
import type { LandedUnderLocks } from './critical-section.ts'
import { hookEnvironment } from './hook-environment.ts'
import type { ReadyLanding } from './make-ready.ts'
import { type LateSave, lateSaves } from './place-files.ts'
import type { LandReport, LandRequest } from './request.ts'
import type { LeftAlone } from './settle-files.ts'
import { settleSubmodules } from './submodules.ts'

/** How long displaced files are kept: an editor may have one open and save to it long after. */
const KEPT_MS = 12 * 3600_000
/** What a preflight writes, and objects of a landing that moves a ref alone: neither takes more than seconds. */
const SCRATCH_KINDS = ['preflight', 'objects']
const SCRATCH_MS = 3600_000

/**
 * What follows when the ref has moved and the index is in place: nothing of it can take the landing back any
 * more, so what fails is told of and does no harm.
 */
export async function finishLanding(
  request: LandRequest,
  ready: ReadyLanding,
  outcome: LandedUnderLocks,
): Promise<LandReport> {
  request.held?.obeySignals()
  const { journal, plan } = ready
  const remarks: string[] = [...plan.remarks, ...keptRemarks(request, plan, ready.backups)]
  const steps: readonly (() => Promise<readonly string[]>)[] = [
    async () => tidyDirectories(journal),
    // The journal is open until the refresh has ended: a kill in the middle leaves an index.lock that is
    // known to be ours then.
    async () =>
      outcome.isIndexComplete
        ? []
        : refreshIndex(filterless(request.repository.door, ready.config)).then(() => []),
    async () => lateRemarks(request.galleyDir, journal),
    async () => removeOwnDirectory(ready.aside.directory).then(() => []),
    async () => closeLanding(request.galleyDir, journal).then(() => []),
    async () => sweepDone(request.galleyDir, request.clock),
    async () =>
      (await hasPostMergeHook(request.repository, ready.config))
        ? runHook(plan.workTree, 'post-merge', ['0'], postMergeEnvironment(request.repository.env))
        : [],
  ]
  for (const step of steps) remarks.push(...(await step().catch(failureRemark)))
  request.reach?.('closed')
  return { remarks, backups: ready.backups, locksHeldMs: outcome.locksHeldMs }
}

/** What it installs or builds came from the proposal a moment ago: none of that may say yes to the next one. */
const postMergeEnvironment = (env: LandRequest['repository']['env']): Record<string, string> => ({
  ...hookEnvironment(env),
  ...(isSet(env['GALLEY_AGENT']) ? {} : { GALLEY_AGENT: 'hook:post-merge' }),
})

const failureRemark = (error: unknown): readonly string[] => [
  `the change has landed, but tidying up failed: ${error instanceof Error ? error.message : String(error)}`,
]

/** Removes the directories that deletions left empty, as git does, never the root; submodules get theirs. */
export function tidyDirectories(journal: LandingJournal): readonly string[] {
  for (const step of journal.files) {
    if (step.kind !== 'delete') continue
    let directory = dirname(step.path)
    while (directory !== '.' && removeEmptyDirectory(journal.workTree, directory))
      directory = dirname(directory)
  }
  settleSubmodules(journal)
  return []
}

/** Sorts by age: the time comes first, in as many digits as it has for the next two hundred years. */
const doneDirectory = (galleyDir: string, journal: LandingJournal): string =>
  join(doneRoot(galleyDir), `${journal.startedAt}-${journal.id}`)

/** Where a file of the landing's folder will be when the landing is closed. */
function doneName(galleyDir: string, journal: LandingJournal, file: string): string {
  const landDir = landDirectory(galleyDir, journal.id)
  return file.startsWith(`${landDir}/`)
    ? join(doneDirectory(galleyDir, journal), file.slice(landDir.length + 1))
    : file
}

/**
 * Closes the journal: what was displaced is kept for some hours. Places on other devices are given up at
 * once, unless they hold something that is nowhere else.
 *
 * @param left - Files whose place somebody else has taken.
 */
export async function closeLanding(
  galleyDir: string,
  journal: LandingJournal,
  left: readonly LeftAlone[] = [],
): Promise<void> {
  const landDir = landDirectory(galleyDir, journal.id)
  const late = new Set([
    ...lateSaves(journal).map(({ stage }) => stage),
    ...left.flatMap(({ old }) => (old === null ? [] : [dirname(dirname(old))])),
  ])
  for (const stage of new Set([...journal.files, ...journal.cleared].map((step) => step.stage))) {
    if (stage !== landDir && !late.has(stage)) await removeOwnDirectory(stage)
  }
  await makePrivateDirectory(doneRoot(galleyDir))
  await moveOwnDirectory(landDir, doneDirectory(galleyDir, journal))
  removeDirectoryIfEmpty(landRoot(galleyDir))
}

/**
 * Deletes what earlier landings displaced, once it is old enough and holds the bytes that were displaced. A
 * file that a program went on saving to, or made there, is kept and told of. Looks at names alone while nothing is old
 * enough.
 */
export async function sweepDone(galleyDir: string, clock: Clock): Promise<readonly string[]> {
  await sweepScratch(galleyDir, clock)
  const remarks: string[] = []
  for (const name of await namesIn(doneRoot(galleyDir))) {
    if (clock.now() - Number(name.split('-')[0]) < KEPT_MS) break
    const directory = join(doneRoot(galleyDir), name)
    const found = findJournal(directory)
    if (found.kind !== 'journal' && holdsDisplaced(directory)) {
      remarks.push(`${directory} holds displaced files, and its journal cannot be read: it is kept`)
      continue
    }
    const late = found.kind === 'journal' ? lateSaves(inDirectory(found.journal, directory)) : []
    if (late.length === 0) await removeOwnDirectory(directory)
    remarks.push(...late.map(lateRemark))
  }
  return remarks
}

/** Removes what killed preflights and landings left: their folders carry the time in their names. */
async function sweepScratch(galleyDir: string, clock: Clock): Promise<void> {
  const root = join(galleyDir, 'tmp')
  for (const name of await namesIn(root)) {
    const [kind, time] = name.split('-')
    if (SCRATCH_KINDS.includes(kind ?? '') && clock.now() - Number(time) > SCRATCH_MS)
      await removeOwnDirectory(join(root, name))
  }
}

/** What is said of saves that came too late, naming where they are once the landing is closed. */
export const lateRemarks = (galleyDir: string, journal: LandingJournal): readonly string[] =>
  lateSaves(journal).map((save) => lateRemark({ ...save, file: doneName(galleyDir, journal, save.file) }))

const lateRemark = ({ path, file, isNew }: LateSave): string =>
  isNew
    ? `${path} was made by another program when its directory had made way for a file; it is in ${file}`
    : `${path} was saved by a program that had the old file open; those bytes are in ${file}`

/** The journal as it reads after its folder was moved. */
function inDirectory(journal: LandingJournal, directory: string): LandingJournal {
  const moved = <T>(steps: readonly T[]) => steps.map((step) => ({ ...step, stage: directory }))
  return { ...journal, files: moved(journal.files), cleared: moved(journal.cleared) }
}

/** Whether there may be one; only git itself knows all the places where hooks are found. */
async function hasPostMergeHook({ commonDir }: Repository, config: ConfigValues): Promise<boolean> {
  const isElsewhere = [...config.keys()].some((key) => key === 'core.hookspath' || key.startsWith('hook.'))
  return isElsewhere || fileExists(join(commonDir, 'hooks', 'post-merge'))
}
