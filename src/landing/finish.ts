import { dirname, join } from 'node:path'
import type { Repository } from '../git/open-repository.ts'
import { doneRoot, type LandingJournal, landDirectory, readJournal } from '../store/landing-journal.ts'
import type { Clock } from '../sys/clock.ts'
import { makePrivateDirectory, moveOwnDirectory, namesIn, removeOwnDirectory } from '../sys/durable-files.ts'
import { run } from '../sys/process.ts'
import { removeEmptyDirectory } from '../sys/swap-file.ts'
import { lateSaves } from './place-files.ts'

/** How long displaced files are kept: an editor may have one open and save to it long after. */
const KEPT_MS = 12 * 3600_000
const HOOK_TIMEOUT_MS = 10 * 60_000
const HOOK_OUTPUT_BYTES = 64 * 1024

/** Removes the directories that deletions left empty, as git does. Never the root. */
export function removeEmptyParents(journal: LandingJournal): void {
  for (const step of journal.files) {
    if (step.kind !== 'delete') continue
    let directory = dirname(step.path)
    while (directory !== '.' && removeEmptyDirectory(journal.workTree, directory))
      directory = dirname(directory)
  }
}

/** Closes the journal: what was displaced is kept for some hours. */
export async function closeLanding(galleyDir: string, journal: LandingJournal): Promise<void> {
  const landDir = landDirectory(galleyDir, journal.id)
  for (const stage of new Set([...journal.files, ...journal.cleared].map(({ stage }) => stage))) {
    if (stage !== landDir) await removeOwnDirectory(stage)
  }
  await makePrivateDirectory(doneRoot(galleyDir))
  await moveOwnDirectory(landDir, join(doneRoot(galleyDir), journal.id))
}

/**
 * Deletes what earlier landings displaced, once it is old enough and holds the bytes that were displaced. A file that a program went on
 * saving to is kept and told of.
 */
export async function sweepDone(galleyDir: string, clock: Clock): Promise<readonly string[]> {
  const remarks: string[] = []
  for (const name of await namesIn(doneRoot(galleyDir))) {
    const directory = join(doneRoot(galleyDir), name)
    const journal = await readJournal(directory)
    if (journal !== null && clock.now() - journal.startedAt < KEPT_MS) continue
    const late = journal === null ? [] : lateSaves(inDirectory(journal, directory))
    if (late.length === 0) await removeOwnDirectory(directory)
    for (const { path, file } of late) remarks.push(lateRemark(path, file))
  }
  return remarks
}

export const lateRemark = (path: string, file: string): string =>
  `${path} was saved by a program that had the old file open; those bytes are in ${file}`

/** The journal as it reads after its folder was moved. */
function inDirectory(journal: LandingJournal, directory: string): LandingJournal {
  return { ...journal, files: journal.files.map((step) => ({ ...step, stage: directory })) }
}

/**
 * Runs the user's `post-merge` hook, if there is one, as `git merge` does after a fast-forward: its exit code does not matter.
 *
 * @returns What it said, when it failed.
 */
export async function runPostMergeHook(repository: Repository, workTree: string): Promise<readonly string[]> {
  const result = await run({
    file: 'git',
    args: ['hook', 'run', '--ignore-missing', 'post-merge', '--', '0'],
    cwd: workTree,
    env: hookEnvironment(repository.env),
    timeoutMs: HOOK_TIMEOUT_MS,
    outputMaxBytes: HOOK_OUTPUT_BYTES,
    ownGroup: true,
  })
  if (result.exitCode === 0) return []
  const said = `${result.stdout}${result.stderr}`.trim().slice(0, 2000)
  return [`the post-merge hook ended with exit code ${result.exitCode ?? 'none'}: ${said}`]
}

/** Of the GIT_* variables only those that name no repository: a hook that ran git elsewhere would write into ours. */
export function hookEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const isRepository = name.startsWith('GIT_') && !HARMLESS.test(name)
    if (value !== undefined && !isRepository) passed[name] = value
  }
  return { ...passed, GIT_TERMINAL_PROMPT: '0' }
}

const HARMLESS =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|SSH(?:_COMMAND)?|EDITOR|ASKPASS)$/
