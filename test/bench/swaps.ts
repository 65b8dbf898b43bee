/**
 * Lands again and again while another process swaps the directories of the touched files for links that lead out of
 * the work tree, and looks for anything that got out:
 *
 *     npm run bench -- swaps [landings, default 1000]
 */
import { attackBySwaps } from '../landing/swap-attack.ts'

const tries = Number(process.argv[2] ?? 1000)
const found = await attackBySwaps(tries)
process.stdout.write(`${tries} tries: ${JSON.stringify(found)}\n`)
if (found.outside.length > 0) process.exitCode = 1
