import { configValues } from './config-values.ts'
import { type GitDoor, gitEnvironment } from './door.ts'

const FILTERS = '^filter\\..*\\.(clean|smudge|process|required)$'

/**
 * Environment for one call in which no filter driver of the user's configuration is set: git otherwise starts one to look
 * into a file that may have changed. Costs one process.
 */
export async function withoutFilters(door: GitDoor): Promise<Record<string, string>> {
  const configured = [...(await configValues(door, FILTERS)).keys()]
  const first = Number(gitEnvironment(door)['GIT_CONFIG_COUNT'] ?? 0)
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(first + configured.length) }
  for (const [i, key] of configured.entries()) {
    env[`GIT_CONFIG_KEY_${first + i}`] = key
    env[`GIT_CONFIG_VALUE_${first + i}`] = key.endsWith('.required') ? 'false' : ''
  }
  return env
}
