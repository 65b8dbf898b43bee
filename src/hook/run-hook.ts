import { guardCommit, guardMessage } from '../flow/hooks/hook-commit.ts'
import { guardReceive, guardUpdate } from '../flow/hooks/hook-receive.ts'
import { guardPush, guardTransaction, readSteps, stepOf } from '../flow/hooks/hook-refs.ts'
import type { World } from '../flow/world.ts'
import { refuse } from '../model/error.ts'
import { hookNames } from '../model/hook.ts'

export interface HookCall {
  readonly name: string
  readonly args: readonly string[]
  /** For the hooks of a server: the list of allowed signers, in place of the policy's. */
  readonly allowedSigners?: string
  readonly readStdin: () => Promise<Uint8Array>
  readonly readFile: (path: string) => Promise<Uint8Array>
}

/**
 * Answers one hook.
 *
 * @returns A remark for standard error; empty where there is nothing to say. git goes on.
 * @throws GalleyError `unapproved`, `forged`; git stops.
 */
export async function runHook(world: World, call: HookCall): Promise<string> {
  const { name, args } = call
  const { env } = world.repository
  const onServer =
    call.allowedSigners === undefined ? world : { ...world, allowedSigners: call.allowedSigners }
  const quarantine = (env['GIT_QUARANTINE_PATH'] ?? '') === '' ? null : (env['GIT_OBJECT_DIRECTORY'] ?? null)
  switch (name) {
    case 'pre-commit':
    case 'pre-merge-commit':
      await guardCommit(world)
      return ''
    case 'commit-msg':
      return (await guardMessage(world, await call.readFile(args[0] ?? ''))) ?? ''
    case 'pre-push':
      await guardPush(world, args[0] ?? '', await call.readStdin())
      return ''
    case 'reference-transaction':
      if (args[0] === 'prepared') await guardTransaction(world, await call.readStdin())
      return ''
    case 'pre-receive':
      await guardReceive(onServer, readSteps(await call.readStdin()), quarantine)
      return ''
    case 'update':
      await guardUpdate(onServer, stepOf(args[0] ?? '', args[1] ?? '', args[2] ?? ''), quarantine)
      return ''
    default:
      return refuse('usage', `${JSON.stringify(name.slice(0, 40))} is no hook that galley answers`, {
        known: hookNames,
      })
  }
}
