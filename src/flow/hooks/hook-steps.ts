import { dirname, join } from 'node:path'
import { assertNever } from '../../model/error.ts'
import type { HookStep } from '../../model/hook.ts'
import { shimLine } from '../../policy/hook-plan.ts'
import { type HookEntry, shimDirectory } from '../../store/hook-manifest.ts'
import { removeDirectoryIfEmpty } from '../../sys/directories.ts'
import {
  keepScript,
  putScript,
  readScript,
  removeScript,
  restoreScript,
  type ScriptFile,
} from '../../sys/hook-files.ts'

const SHIM_MODE = 0o755

const isOurs = (script: ScriptFile): boolean =>
  script.kind === 'file' && script.bytes.includes('\n# galley hook shim: ')

/** What a step is going to leave, for the manifest; null where nothing is left, or git's configuration is the place. */
export async function entryOf(step: HookStep): Promise<HookEntry | null> {
  const { name } = step
  switch (step.kind) {
    case 'write':
      return { kind: 'shim', name, path: step.path, previous: null }
    case 'chain':
      return { kind: 'shim', name, path: step.path, previous: step.previous }
    case 'line':
      return { kind: 'line', name, path: step.path, added: await addedText(step), creates: step.creates }
    case 'keep':
    case 'tell':
    case 'config':
      return null
    default:
      return assertNever(step)
  }
}

async function addedText(step: Extract<HookStep, { kind: 'line' }>): Promise<string> {
  const line = `${shimLine(step.name)}\n`
  if (step.creates) return `#!/bin/sh\n${line}`
  const found = await readScript(step.path)
  const isTerminated = found.kind !== 'file' || found.bytes.length === 0 || found.bytes.at(-1) === 0x0a
  return isTerminated ? line : `\n${line}`
}

/** Does what was decided. At no moment is there no hook where there was one. */
export async function takeStep(
  galleyDir: string,
  step: HookStep,
  entry: HookEntry | null,
  shim: string,
): Promise<void> {
  // Scripts of others, and git's configuration, call the one that lies in galley's own folder.
  await putScript(join(shimDirectory(galleyDir), step.name), shim, SHIM_MODE)
  if (entry?.kind === 'line') return addText(entry)
  if (step.kind !== 'write' && step.kind !== 'chain') return
  if (step.kind === 'chain') await keepScript(step.path, step.previous)
  await putScript(step.path, shim, SHIM_MODE)
  // lefthook had moved ours aside, where nothing runs it.
  if (isOurs(await readScript(`${step.path}.old`))) await removeScript(`${step.path}.old`)
}

async function addText(entry: Extract<HookEntry, { kind: 'line' }>): Promise<void> {
  const found = await readScript(entry.path)
  const before = found.kind === 'file' ? found.bytes : Buffer.alloc(0)
  const mode = found.kind === 'file' ? found.mode : SHIM_MODE
  await putScript(entry.path, Buffer.concat([before, Buffer.from(entry.added, 'utf8')]), mode)
}

/** Takes back what one installation left. Gives a remark where somebody else has been there since. */
export async function takeBack(entry: HookEntry): Promise<string | null> {
  switch (entry.kind) {
    case 'shim':
      return takeShim(entry.path, entry.previous)
    case 'line':
      return takeLine(entry)
    case 'config':
      return null
    default:
      return assertNever(entry)
  }
}

async function takeShim(path: string, previous: string | null): Promise<string | null> {
  // Ours may have been moved: lefthook sets it aside, pre-commit runs it from there.
  for (const place of [path, `${path}.legacy`, `${path}.old`]) {
    if (!isOurs(await readScript(place))) continue
    const kept = previous === null ? null : await readScript(previous)
    if (previous !== null && kept?.kind === 'file' && place !== `${path}.old`)
      await restoreScript(previous, place)
    else await removeScript(place)
  }
  return previous === null ? null : settlePrevious(path, previous)
}

/** Theirs is still kept, though ours was not where it had been put. */
async function settlePrevious(path: string, previous: string): Promise<string | null> {
  const [kept, now] = [await readScript(previous), await readScript(path)]
  let remark: string | null = null
  if (kept.kind === 'file' && now.kind === 'absent') await restoreScript(previous, path)
  else if (kept.kind === 'file' && now.kind === 'file' && kept.bytes.equals(now.bytes))
    await removeScript(previous)
  else if (kept.kind === 'file')
    remark = `another hook stands at ${path} now; the earlier one is kept at ${previous}`
  removeDirectoryIfEmpty(dirname(previous))
  return remark
}

async function takeLine(entry: Extract<HookEntry, { kind: 'line' }>): Promise<string | null> {
  const found = await readScript(entry.path)
  if (found.kind !== 'file') return null
  const added = Buffer.from(entry.added, 'utf8')
  if (entry.creates && found.bytes.equals(added)) {
    await removeScript(entry.path)
    return null
  }
  const line = Buffer.from(`${shimLine(entry.name as HookStep['name'])}\n`, 'utf8')
  const cut = added.length > 0 && found.bytes.includes(added) ? added : line
  const at = found.bytes.lastIndexOf(cut)
  if (at === -1) return null
  const rest = Buffer.concat([found.bytes.subarray(0, at), found.bytes.subarray(at + cut.length)])
  await putScript(entry.path, rest, found.mode)
  return null
}

/** Removes the shims of galley's own folder. */
export async function takeShims(galleyDir: string, names: readonly string[]): Promise<void> {
  const directory = shimDirectory(galleyDir)
  for (const name of names) {
    const path = join(directory, name)
    if (isOurs(await readScript(path))) await removeScript(path)
  }
  removeDirectoryIfEmpty(directory)
}
