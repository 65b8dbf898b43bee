import { type Fetched, fetchChanges } from '../../flow/exchange/fetch.ts'
import { visible } from '../../review/visible.ts'
import { progressOf } from '../progress.ts'
import { changeLine } from '../text.ts'
import type { Terminal, Verb } from '../verb.ts'

export const fetch: Verb = {
  usage: 'fetch [remote]',
  summary: 'Take changes, approvals and logs from a remote.',
  details:
    'Takes the changes, approvals and logs that a remote keeps as refs/galley/*. Each is held against its objects first: what does not stand up\nto them is dropped, and named. Nothing that is here is overwritten; where both sides added to a log, the events of both are kept. Your\nbranches, index and files are not touched. Without a name the remote is the one that git would fetch from.',
  examples: [
    ['galley fetch', 'see what others propose and have decided'],
    ['galley fetch && galley land g7k2m9', 'land what was approved elsewhere'],
  ],
  options: (yargs) => yargs,
  run: async (context, args) => {
    const [remote] = args['_'] as readonly string[]
    const fetched = await fetchChanges(await context.world(), {
      ...(remote === undefined ? {} : { remote: String(remote) }),
      ...progressOf(context.terminal),
    })
    if (!context.json) noteDropped(fetched, context.terminal)
    return { value: { ...fetched }, text: fetchedText(fetched, context.terminal) }
  },
}

function fetchedText({ remote, changes }: Fetched, terminal: Terminal): string {
  if (changes.length === 0) return `Nothing new on ${visible(remote)}.\n`
  return changes.map(({ change, how }) => `${HOW[how]} ${changeLine(change, terminal)}`).join('')
}

const HOW = { new: 'new     ', updated: 'updated ', merged: 'merged  ', same: 'approved' } as const

/** What was not let in is no part of the answer, and must be seen. */
function noteDropped({ dropped, remote }: Fetched, terminal: Terminal): void {
  for (const { ref, code, reason } of dropped)
    terminal.note(`galley: not taken from ${visible(remote)}: ${visible(ref)}: ${code}: ${visible(reason)}\n`)
}
