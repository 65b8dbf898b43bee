import type { StartEntry } from '../../store/sessions.ts'
import { keepText } from '../../store/turns.ts'
import { argumentsVersion } from './call-replay.ts'
import type { RunningCall } from './call-run.ts'

/**
 * The journal's line for a call that is about to take effect.
 *
 * @param canonical - The arguments as their check gave them.
 */
export async function startEntry(
  run: RunningCall,
  canonical: string,
  change: string | null,
  files: StartEntry['files'],
): Promise<StartEntry> {
  return {
    kind: 'start',
    at: run.world.now(),
    call: run.id,
    tool: run.call.tool,
    version: argumentsVersion,
    arguments: await keepText(run.store, canonical),
    directory: run.root,
    change,
    files,
  }
}
