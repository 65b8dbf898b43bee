import type { Conversation } from '../sys/conversation.ts'
import { gitFailure } from './door.ts'

/** What a running git answers; when it has ended instead, its own words, under the code that they call for. */
export function answerOf<T>(talk: Conversation, command: string, read: Promise<T>): Promise<T> {
  return read.catch(async () => {
    const exitCode = (await talk.end()) ?? -1
    throw gitFailure([command], { exitCode, stdout: Buffer.alloc(0), stderr: talk.stderr() })
  })
}
