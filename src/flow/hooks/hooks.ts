import { dirname, join } from 'node:path'
import { refuse } from '../../model/error.ts'
import { type HookName, type HookPlace, type HookStep, hookNames } from '../../model/hook.ts'
import { defaultPolicy } from '../../policy/default-policy.ts'
import { type HookFacts, planHook, shimLine } from '../../policy/hook-plan.ts'
import {
  type HookEntry,
  readHookManifest,
  shimDirectory,
  writeHookManifest,
} from '../../store/hook-manifest.ts'
import { galleyDirectory } from '../../store/open-store.ts'
import { removeDirectoryIfEmpty } from '../../sys/directories.ts'
import { readScript } from '../../sys/hook-files.ts'
import { refuseAgents } from '../approve.ts'
import { findHookPlace, readHookFacts } from '../hook-place.ts'
import { findAllowedSigners } from '../verify-approval.ts'
import type { World } from '../world.ts'
import { findConfigWay, takeHookConfig, writeHookConfig } from './hook-config.ts'
import { doneText, type HookReport, stateOf } from './hook-report.ts'
import { type Shims, shimText, signersOfShim } from './hook-shims.ts'
import { entryOf, takeBack, takeShims, takeStep } from './hook-steps.ts'

export interface HooksRequest {
  readonly shims: Shims
  /** Catches `--no-verify` and plumbing too; costs a few milliseconds for each move of a ref. */
  readonly referenceTransaction: boolean
  /** On a server: the `update` hook beside `pre-receive`. */
  readonly update: boolean
  /** The list of allowed signers for a server's hooks, absolute; empty = the policy's again. Left out: as it was. */
  readonly allowedSigners?: string
  /** Write the repository's own git configuration where that is the way. Never without being asked. */
  readonly config: boolean
}

export interface HooksReport {
  readonly place: HookPlace
  readonly hooks: readonly HookReport[]
}

/**
 * Puts galley's hooks in place beside whoever owns the hooks here: a hook of theirs is kept and run first, a script that a team shares
 * gets a line, and where neither is safe it says what to add. Doing it again repairs what somebody else's installation displaced.
 *
 * Leaves the shims, `.git/galley/hooks.json`, and nothing in git's configuration unless `config`.
 */
export async function installHooks(world: World, request: HooksRequest): Promise<HooksReport> {
  const { repository } = world
  const galleyDir = galleyDirectory(repository)
  const place = await findHookPlace(repository)
  const way = await findConfigWay(repository, place, request.config)
  const names = wantedNames(repository.workTree === null, request)
  const shims = await withSigners(request.shims, place, request.allowedSigners)
  await refuseSigners(world, request.allowedSigners, names)
  let entries = await readHookManifest(galleyDir)
  const hooks: HookReport[] = []
  for (const name of names) {
    const shim = await shimText(shims, name)
    const facts = await readHookFacts(place, repository.workTree, name, shim)
    const step = planHook({ place, usesConfig: way !== 'none' }, facts)
    const entry = await entryOf(step)
    // Before anything moves, so that a killed installation can be taken away as well.
    if (entry !== null) {
      entries = withEntry(entries, entry)
      await writeHookManifest(galleyDir, entries)
    }
    await takeStep(galleyDir, step, entry, shim)
    hooks.push({ name, path: pathOf(step, galleyDir), ...doneText(step, facts, place) })
  }
  if (way !== 'none') {
    const entry = await writeHookConfig(repository, galleyDir, place, way, names)
    await writeHookManifest(galleyDir, withEntry(entries, entry))
  }
  return { place, hooks }
}

/** A hook that names a list of allowed signers goes on doing so until it is told another. */
async function withSigners(shims: Shims, place: HookPlace, given: string | undefined): Promise<Shims> {
  const paths = (['pre-receive', 'update'] as const).map((name) => join(place.directory, name))
  const named = given === undefined ? await Promise.all(paths.map(signersOfShim)) : [given]
  const found = named.find((one) => one !== undefined)
  return found === undefined || found === '' ? shims : { ...shims, allowedSigners: found }
}

/** A list that no hook would read, or that cannot be read, is told of now and not at the first push. */
async function refuseSigners(
  world: World,
  given: string | undefined,
  names: readonly HookName[],
): Promise<void> {
  if (given === undefined) return
  refuseAgents(world, {
    message: 'an agent may not say whose signature counts',
    hint: 'Ask a person to run it in their own terminal.',
  })
  if (given === '') return
  if (!names.some((name) => name === 'pre-receive' || name === 'update'))
    refuse('usage', '--allowed-signers is for the hooks of a server, pre-receive and update', { names })
  await findAllowedSigners({ ...world, allowedSigners: given }, defaultPolicy, null)
}

/** The same hook put in place again is one entry; what was kept the first time stays noted. */
function withEntry(entries: readonly HookEntry[], entry: HookEntry): readonly HookEntry[] {
  const old = entries.find((one) => one.path === entry.path && one.kind === entry.kind)
  const rest = entries.filter((one) => one !== old)
  if (entry.kind === 'shim' && entry.previous === null && old?.kind === 'shim') return [...rest, old]
  if (entry.kind === 'config' && old?.kind === 'config') {
    return [...rest, { ...entry, before: old.before, keys: [...new Set([...old.keys, ...entry.keys])] }]
  }
  return [...rest, entry]
}

const pathOf = (step: HookStep, galleyDir: string): string =>
  step.kind === 'config' ? join(shimDirectory(galleyDir), step.name) : step.path

function wantedNames(
  isBare: boolean,
  request: Pick<HooksRequest, 'referenceTransaction' | 'update'>,
): readonly HookName[] {
  const local: readonly HookName[] = ['pre-commit', 'pre-merge-commit', 'commit-msg', 'pre-push']
  return [
    ...(isBare ? (['pre-receive'] as const) : local),
    ...(request.update ? (['update'] as const) : []),
    ...(request.referenceTransaction ? (['reference-transaction'] as const) : []),
  ]
}

/** What was done, and remarks on what somebody else has changed since. */
export interface HooksRemoved {
  readonly removed: readonly string[]
  readonly remarks: readonly string[]
}

/**
 * Takes galley's hooks away: every script of theirs is byte for byte, and mode for mode, as it would be without galley.
 *
 * @throws GalleyError `agent-may-not-approve`, where the environment shows an agent at work.
 */
export async function uninstallHooks(world: World): Promise<HooksRemoved> {
  const { repository } = world
  refuseAgents(world, {
    message: 'an agent may not take the hooks away',
    hint: 'Ask a person to run `galley hooks uninstall` in their own terminal.',
  })
  const galleyDir = galleyDirectory(repository)
  const entries = await installedHooks(world)
  const remarks: string[] = []
  for (const entry of entries) {
    if (entry.kind === 'config') await takeHookConfig(repository, galleyDir, entry)
    const remark = await takeBack(entry)
    if (remark !== null) remarks.push(remark)
  }
  await takeShims(galleyDir, hookNames)
  await writeHookManifest(galleyDir, [])
  for (const folder of new Set(entries.map((entry) => dirname(entry.path))))
    removeDirectoryIfEmpty(join(folder, 'galley-prev'))
  return { removed: [...new Set(entries.map((entry) => entry.path))], remarks }
}

/** Everything that installations left here, noted or not. */
export async function installedHooks(world: World): Promise<readonly HookEntry[]> {
  const noted = await readHookManifest(galleyDirectory(world.repository))
  return [...noted, ...(await findUnnoted(world, noted))]
}

/** What stands there without being noted: the manifest went with galley's folder, say. */
async function findUnnoted(world: World, noted: readonly HookEntry[]): Promise<readonly HookEntry[]> {
  const place = await findHookPlace(world.repository)
  const known = new Set(noted.map((entry) => entry.path))
  const found: HookEntry[] = []
  for (const name of hookNames) {
    const facts = await readHookFacts(place, world.repository.workTree, name, '')
    const previous = (await readScript(facts.previousPath)).kind === 'absent' ? null : facts.previousPath
    const isOurs = [facts.file, facts.legacy].some((file) => file.kind === 'file' && file.owner === 'galley')
    if (isOurs && !known.has(facts.path) && !known.has(`${facts.path}.legacy`)) {
      found.push({ kind: 'shim', name, path: facts.path, previous })
    } else if (!known.has(facts.path) && (await hasShimLine(facts))) {
      found.push({ kind: 'line', name, path: facts.path, added: '', creates: false })
    }
  }
  return found
}

/** The very line that an installation adds; what people wrote themselves stays. */
async function hasShimLine({ path, name }: HookFacts): Promise<boolean> {
  const script = await readScript(path)
  return script.kind === 'file' && script.bytes.includes(`${shimLine(name)}\n`)
}

/** Looks whether the hooks that were put in place are the ones that git runs. Changes nothing. */
export async function hooksStatus(world: World, shims: Shims): Promise<HooksReport> {
  const { repository } = world
  const galleyDir = galleyDirectory(repository)
  const place = await findHookPlace(repository)
  const noted = await readHookManifest(galleyDir)
  const asked = { referenceTransaction: false, update: false }
  const names = new Set<HookName>(wantedNames(repository.workTree === null, asked))
  for (const entry of noted) {
    for (const name of hookNames) if (entry.kind !== 'config' && entry.name === name) names.add(name)
  }
  const withList = await withSigners(shims, place, undefined)
  const hooks: HookReport[] = []
  for (const name of names) {
    const facts: HookFacts = await readHookFacts(
      place,
      repository.workTree,
      name,
      await shimText(withList, name),
    )
    const shim = await readScript(join(shimDirectory(galleyDir), name))
    hooks.push({ name, path: facts.path, ...stateOf(facts, noted, shim.kind === 'file') })
  }
  return { place, hooks }
}
