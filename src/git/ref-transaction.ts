import { GalleyError, invariant, refuse } from '../model/error.ts'
import { type RefName, zeroId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { type Conversation, converse } from '../sys/conversation.ts'
import { type GitDoor, git, gitFailure, repositoryArguments } from './door.ts'

/** A ref move that has all its locks and has been agreed to by the user's hook, and is not made yet. */
export interface PreparedRefMove {
  /** The decision point. Rejects when the outcome is not known: then look at the ref. */
  readonly commit: () => Promise<void>
  /** Gives the locks back; the ref stays. */
  readonly abort: () => Promise<void>
}

export interface RefMove {
  readonly ref: RefName
  /** null = the ref must not exist. */
  readonly before: string | null
  readonly after: string
  /** Reflog message; one line. */
  readonly reason: string
}

/**
 * A started `git update-ref --stdin` that nothing was asked of yet; started early, since a process takes a
 * while to begin.
 *
 * @param env - The whole environment: the user's `reference-transaction` hook inherits it.
 */
export function startRefTransaction(
  door: GitDoor,
  reason: string,
  env: Readonly<Record<string, string>>,
): Conversation {
  const oneLine = reason.replaceAll(/[\r\n\0]+/g, ' ')
  const args = ['-c', 'gc.auto=0', ...repositoryArguments(door), 'update-ref', '-m', oneLine, '--stdin', '-z']
  return converse({ file: 'git', args, cwd: door.workTree ?? door.gitDir, env })
}

/**
 * Locks the ref (and HEAD, where it names it), compares the old value and asks the user's
 * `reference-transaction` hook.
 *
 * `HEAD` itself is moved as a detached head: a branch that somebody checked out meanwhile does not move with
 * it.
 *
 * @throws GalleyError `branch-moved`, `locked`, `hook-refused`; nothing is held then.
 */
export async function prepareRefMove(
  door: GitDoor,
  move: RefMove,
  started: Conversation,
): Promise<PreparedRefMove> {
  invariant(/^(?:HEAD|refs\/[^\s\0~^:?*[\\]+)$/.test(move.ref), `a ref name: ${move.ref}`)
  const before = move.before ?? zeroId(door.objectFormat)
  const option = move.ref === 'HEAD' ? 'option no-deref\0' : ''
  let isOverdue = false
  const timer = setTimeout(() => {
    isOverdue = true
    started.kill()
  }, limits.gitTimeoutMs)
  started.write(`start\0${option}update ${move.ref}\0${move.after}\0${before}\0prepare\0`)
  try {
    await expectLine(started, 'start: ok')
    await expectLine(started, 'prepare: ok')
  } catch (cause) {
    await started.end()
    if (isOverdue) {
      refuse('hook-refused', `the reference-transaction hook did not end within ${limits.gitTimeoutMs} ms`, {
        ref: move.ref,
      })
    }
    throw await explain(door, move, started.stderr(), cause)
  } finally {
    clearTimeout(timer)
  }
  return {
    commit: async () => {
      started.write('commit\0')
      await expectLine(started, 'commit: ok')
      await started.end()
    },
    abort: async () => {
      started.write('abort\0')
      await started.end()
    },
  }
}

async function expectLine(conversation: Conversation, expected: string): Promise<void> {
  const line = await conversation.readLine()
  if (line !== expected) throw new Error(`update-ref said ${JSON.stringify(line)} instead of ${expected}`)
}

/** What stood in the way, by looking at the ref first: only what is left is read from git's words. */
async function explain(door: GitDoor, move: RefMove, said: string, cause: unknown): Promise<unknown> {
  const now = await refValue(door, move.ref)
  const data = { ref: move.ref, expected: move.before, actual: now, said: said.trim() }
  try {
    if (now !== move.before) {
      refuse(
        'branch-moved',
        `${move.ref} is at ${now ?? 'nothing'}, not at ${move.before ?? 'nothing'}`,
        data,
      )
    }
    if (said.includes('aborted by hook') || said.includes('reference-transaction')) {
      refuse(
        'hook-refused',
        `the reference-transaction hook refused to move ${move.ref}: ${said.trim()}`,
        data,
      )
    }
    if (said.includes('.lock')) {
      // A lock that is there is somebody's; one that cannot be made is the system's refusal.
      const code = said.includes('File exists') ? 'locked' : 'io-error'
      refuse(code, `${move.ref} could not be locked: ${said.trim()}`, data)
    }
    if (said === '') throw endedEarly(move, cause)
    return gitFailure(['update-ref', '--stdin'], { exitCode: 128, stdout: Buffer.alloc(0), stderr: said })
  } catch (refusal) {
    return refusal
  }
}

const endedEarly = ({ ref }: RefMove, cause: unknown): GalleyError =>
  new GalleyError(
    { code: 'io-error', message: `git was ended before it had locked ${ref}`, data: { ref } },
    { cause },
  )

/** The value of a ref, not following it to another name's commit: null = there is none. */
export async function refValue(door: GitDoor, ref: string): Promise<string | null> {
  const result = await git(door, {
    args: ['rev-parse', '-q', '--verify', '--end-of-options', ref],
    okCodes: [0, 1, 128],
  })
  return result.exitCode === 0 ? result.stdout.toString('latin1').trim() : null
}
