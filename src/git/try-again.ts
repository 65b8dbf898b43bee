import { systemClock } from '../sys/clock.ts'
import { type GitCall, type GitDoor, type GitResult, git, gitFailure } from './door.ts'

/** Tries beside others that are at work in the store: git holds each of these locks for milliseconds and does not wait for one. */
const ATTEMPTS = 12

/**
 * Runs a git command in the store again where it met another process's lock, or a tree that is just being registered.
 *
 * @throws GalleyError as `git` does.
 */
export async function gitBesideOthers(door: GitDoor, call: GitCall): Promise<GitResult> {
  const okCodes = call.okCodes ?? [0]
  for (let attempt = 1; ; attempt++) {
    const result = await git(door, { ...call, okCodes: [...okCodes, 1, 128, 255] })
    if (okCodes.includes(result.exitCode)) return result
    const isPassing = /could not lock config file|failed to read/.test(result.stderr)
    if (!isPassing || attempt === ATTEMPTS) throw gitFailure(call.args, result)
    await systemClock.sleep(20 * attempt)
  }
}
