import type { Argv } from 'yargs'
import type { QueueRequest } from '../flow/queue/queue-side.ts'
import type { Arguments } from './verb.ts'

/** Which queue a verb is about. */
export const queueOptions = (yargs: Argv): Argv =>
  yargs
    .option('branch', { type: 'string', describe: 'Default: the one that is checked out' })
    .option('remote', { type: 'string', describe: 'Default: the one that git would push to' })

export function queueRequest(args: Arguments): QueueRequest {
  const branch = args['branch'] as string | undefined
  const remote = args['remote'] as string | undefined
  return { ...(branch === undefined ? {} : { branch }), ...(remote === undefined ? {} : { remote }) }
}
