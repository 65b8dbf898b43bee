import { type ConfigValues, configValues } from './config-values.ts'
import { type GitDoor, gitEnvironment } from './door.ts'

const FILTERS = /^filter\..*\.(clean|smudge|process|required)$/

/**
 * A door behind which no filter driver of the user's configuration is set. Git otherwise starts one whenever it looks into a file that
 * may have changed: also where it only writes an index, of whose entries some are as young as the index (racily clean).
 *
 * Without the driver, git finds the file to differ and marks the entry to be looked at again, which is what the user's next command does.
 *
 * @param config - Values with at least the keys of filters among them.
 */
export function filterless(door: GitDoor, config: ConfigValues): GitDoor {
  const configured = [...config.keys()].filter((key) => FILTERS.test(key))
  const first = Number(gitEnvironment(door)['GIT_CONFIG_COUNT'] ?? 0)
  const extra: Record<string, string> = { GIT_CONFIG_COUNT: String(first + configured.length) }
  for (const [i, key] of configured.entries()) {
    extra[`GIT_CONFIG_KEY_${first + i}`] = key
    extra[`GIT_CONFIG_VALUE_${first + i}`] = key.endsWith('.required') ? 'false' : ''
  }
  return { ...door, extraEnv: { ...door.extraEnv, ...extra } }
}

/** The same, for who has not read the configuration. Costs one process. */
export const withoutFilters = async (door: GitDoor): Promise<GitDoor> =>
  filterless(door, await configValues(door, FILTERS.source))
