import { type Pushed, pushChanges } from '../../flow/exchange/push.ts'
import { visible } from '../../review/visible.ts'
import { progressOf } from '../progress.ts'
import { shortId, shortRef } from '../text.ts'
import type { Verb } from '../verb.ts'

export const push: Verb = {
  usage: 'push [remote] [options]',
  summary: 'Give changes, approvals and logs to a remote.',
  details:
    'Gives the changes, approvals and logs of this repository to a remote, which keeps them as refs/galley/*. Revisions and approvals are\ncreated there and never overwritten; logs move forward only. Without a name the remote is the one that git would push to. What a\nchange stands on goes along, as with any push; of a change that was rejected before the remote had it nothing is sent, nor of what\nstands on it. With --with-branch a branch and the approvals of what it brings move in one transaction.',
  examples: [
    ['galley push', 'share what waits for a decision, and the decisions'],
    ['galley push origin --with-branch main', 'a branch together with its approvals, or nothing'],
  ],
  options: (yargs) =>
    yargs.option('with-branch', {
      type: 'string',
      describe: 'Push this branch too, in one transaction with its approvals',
    }),
  run: async (context, args) => {
    const [remote] = args['_'] as readonly string[]
    const branch = args['with-branch']
    const pushed = await pushChanges(await context.world(), {
      ...(remote === undefined ? {} : { remote: String(remote) }),
      ...(branch === undefined ? {} : { withBranch: String(branch) }),
      ...progressOf(context.terminal),
    })
    return { value: { ...pushed }, text: pushedText(pushed) }
  },
}

function pushedText({ remote, pushed, changes, branch, withheld }: Pushed): string {
  const to = visible(remote)
  const count = (kind: string) => pushed.filter(({ ref }) => ref.startsWith(`refs/galley/${kind}/`)).length
  const parts = [
    [changes.length, 'change'],
    [count('approvals'), 'approval'],
  ] as const
  const said = parts.map(([n, word]) => `${n} ${word}${n === 1 ? '' : 's'}`).join(', ')
  const moved =
    branch === null || branch.before === branch.after
      ? ''
      : `${shortRef(branch.ref)}: ${shortId(branch.before)}..${shortId(branch.after)}\n`
  const what = pushed.length === 0 ? `Nothing that ${to} has not.\n` : `pushed to ${to}: ${said}\n`
  const [kept] = withheld
  const more = withheld.length > 1 ? ` and ${withheld.length - 1} more` : ''
  const stays =
    kept === undefined ? '' : `kept here: ${kept}${more} (rejected, or standing on what was rejected)\n`
  return `${moved}${pushed.length === 0 && moved !== '' ? '' : what}${stays}`
}
