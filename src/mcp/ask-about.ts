import { questionForClient } from '../flow/client-approval.ts'
import type { World } from '../flow/world.ts'
import { renderDiff } from '../review/unified-diff.ts'
import { changeLine } from './change-words.ts'
import { firstBytes } from './result.ts'
import type { AskedBack } from './tool.ts'

const DIFF_SHOWN_BYTES = 6_000

/**
 * The question to the person before the client: the change and its diff.
 *
 * @throws GalleyError for a change that no client's yes would let through.
 */
export async function askAbout(world: World, id: string): Promise<AskedBack> {
  const { change, pairs } = await questionForClient(world, id)
  const diff = renderDiff(pairs, { contextLines: 3, isColoured: false, numbersHunks: false })
  const shown = firstBytes(diff, DIFF_SHOWN_BYTES)
  const rest = shown === diff ? '' : `\n… (cut; the whole: galley diff ${change.id})`
  return {
    kind: 'ask',
    message: `An agent asks to land ${changeLine(change)}.\n\n${shown}${rest}`,
    state: { id: change.id, digest: change.digest },
  }
}
