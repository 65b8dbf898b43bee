import { join } from 'node:path'
import { readsConfiguredHooks, setLocalConfig, unsetLocalConfig } from '../../git/hooks-path.ts'
import type { Repository } from '../../git/open-repository.ts'
import type { HookName, HookPlace } from '../../model/hook.ts'
import { type HookEntry, shimDirectory } from '../../store/hook-manifest.ts'
import { namesIn } from '../../sys/directories.ts'
import { putScript, readScript, removeScript } from '../../sys/hook-files.ts'
import { readFileOrNull } from '../../sys/small-files.ts'

type ConfigEntry = Extract<HookEntry, { kind: 'config' }>

/**
 * The way that git's configuration offers, where the user allows writing it: `hook.<name>.command` (git 2.54), which stands beside every
 * other hook; else, where hooks are shared with other repositories, a `core.hooksPath` of this one's own.
 */
export type ConfigWay = 'none' | 'hook' | 'path'

export async function findConfigWay(
  repository: Repository,
  place: HookPlace,
  isAllowed: boolean,
): Promise<ConfigWay> {
  if (!isAllowed) return 'none'
  if (await readsConfiguredHooks(repository.door)) return 'hook'
  return place.kind === 'shared' ? 'path' : 'none'
}

/** Writes the configuration. The entry holds the file's bytes before and after. */
export async function writeHookConfig(
  repository: Repository,
  galleyDir: string,
  place: HookPlace,
  way: Exclude<ConfigWay, 'none'>,
  names: readonly HookName[],
): Promise<ConfigEntry> {
  const path = join(repository.commonDir, 'config')
  const directory = shimDirectory(galleyDir)
  if (way === 'path') await wrapHooks(place.directory, directory, names)
  const values: readonly (readonly [string, string])[] =
    way === 'path'
      ? [['core.hooksPath', directory]]
      : names.flatMap((name) => [
          [`hook.galley-${name}.command`, join(directory, name)] as const,
          [`hook.galley-${name}.event`, name] as const,
        ])
  const before = (await readFileOrNull(path)) ?? Buffer.alloc(0)
  await setLocalConfig(repository.door, values)
  const after = (await readFileOrNull(path)) ?? Buffer.alloc(0)
  const keys = values.map(([key]) => key)
  return { kind: 'config', keys, path, before: before.toString('base64'), after: after.toString('base64') }
}

/** Takes the configuration back: byte for byte, where nobody else has written there since. */
export async function takeHookConfig(
  repository: Repository,
  galleyDir: string,
  entry: ConfigEntry,
): Promise<void> {
  const found = await readScript(entry.path)
  const isUntouched = found.kind === 'file' && found.bytes.toString('base64') === entry.after
  if (isUntouched) await putScript(entry.path, Buffer.from(entry.before, 'base64'), found.mode)
  else await unsetLocalConfig(repository.door, entry.keys)
  const directory = shimDirectory(galleyDir)
  for (const folder of [join(directory, 'galley-prev'), directory]) {
    for (const name of await namesIn(folder)) {
      const script = await readScript(join(folder, name))
      if (script.kind === 'file' && script.bytes.includes(WRAPPER)) await removeScript(join(folder, name))
    }
  }
}

const WRAPPER = '# galley hook wrapper\n'

/** Every hook of the shared folder goes on running, from where it lies: those that galley has a shim for are run by that, first. */
async function wrapHooks(shared: string, directory: string, names: readonly HookName[]): Promise<void> {
  for (const name of await namesIn(shared)) {
    const script = await readScript(join(shared, name))
    if (script.kind !== 'file' || name.endsWith('.sample') || (script.mode & 0o111) === 0) continue
    const isOurs = names.some((one) => one === name)
    const path = isOurs ? join(directory, 'galley-prev', name) : join(directory, name)
    const target = join(shared, name).replaceAll("'", () => `'\\''`)
    await putScript(path, `#!/bin/sh\n${WRAPPER}exec '${target}' "$@"\n`, 0o755)
  }
}
