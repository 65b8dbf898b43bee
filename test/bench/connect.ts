/**
 * What the wire of Agent Zero's protocol adds to the library's own time: a read, and a patch that a rule approves and lands.
 * Arguments: number of files (1000), rounds (20).
 */
import { callTool } from '../../src/flow/call/call.ts'
import { hostHere, hubHere } from '../helpers/agent-zero.ts'
import { makeRepo } from '../helpers/repo.ts'

const [files = 1000, rounds = 20] = process.argv.slice(2).map(Number)
const content = Object.fromEntries(
  Array.from({ length: files }, (_, n) => [`d${n % 100}/f${n}.txt`, `${n}\nline\n`]),
)

const median = (times: readonly number[]): number => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0
async function timed(task: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await task()
  return performance.now() - begun
}

using repo = makeRepo({
  files: { ...content, 'a.txt': '0\n', '.galley.json': '{"autoApprove":{"paths":["**"]}}' },
})
await using hub = await hubHere()
await using here = await hostHere(repo, hub.url)
let last = 0
const input = (action: string) => ({
  action,
  path: 'a.txt',
  ...(action === 'patch' ? { patch_text: `-${last}\n+${++last}` } : {}),
})
const byWire = async (action: string) => {
  const { isRefused, text } = await hub.call(input(action))
  if (isRefused) throw new Error(text)
}
const byLibrary = async (action: string) => {
  const call = Buffer.from(JSON.stringify({ tool: 'text_editor_remote', input: input(action) }))
  const { ok, result } = await callTool(here.world, {
    call,
    dialect: 'agent-zero',
    session: 'agent-zero',
    approval: { kind: 'none' },
  })
  if (!ok) throw new Error(result.text)
}
for (const action of ['read', 'patch']) {
  await byWire(action)
  await byLibrary(action)
  const wire: number[] = []
  const library: number[] = []
  for (let round = 0; round < rounds; round++) {
    wire.push(await timed(() => byWire(action)))
    library.push(await timed(() => byLibrary(action)))
  }
  const [w, l] = [median(wire), median(library)]
  process.stdout.write(
    `${action}: by the wire ${w.toFixed(1)} ms, by the library ${l.toFixed(1)} ms: ${(w / l).toFixed(2)} x, ${(w - l).toFixed(1)} ms more\n`,
  )
}
