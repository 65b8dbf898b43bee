import { join } from 'node:path'
import { readFileOrNull } from '../sys/small-files.ts'
import type { Repository } from './open-repository.ts'

/** The commits at which a shallow clone's history ends. Empty for a full one. */
export async function readShallow(repository: Repository): Promise<ReadonlySet<string>> {
  const bytes = await readFileOrNull(join(repository.commonDir, 'shallow'))
  return new Set(
    bytes === null
      ? []
      : bytes
          .toString('latin1')
          .split('\n')
          .filter((line) => line !== ''),
  )
}
