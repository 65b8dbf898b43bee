import { join, sep } from 'node:path'
import { agentAtWork, clientEnvironment, isSet, ownMarks } from '../policy/agent-environment.ts'
import { scratchHome } from '../store/scratch-home.ts'
import { ownDirectory, startedWith } from '../sys/lineage.ts'
import type { World } from './world.ts'

/** What shows that an agent, or code that comes from a proposal, is at work. */
export interface AgentSign {
  /** The variable; null where something else shows it. */
  readonly variable: string | null
  /** For messages: `GALLEY_AGENT is set`. */
  readonly what: string
}

/**
 * Looks for an agent at work: by the variables of the environment that the verb was given, by galley's own marks on this process and
 * those that it comes from, and by the tree of galley's that it stands in. null = a person, as far as can be seen.
 *
 * A seat belt for one account: a process that was started by another service (`at`, cron), or left its parents and its directory
 * behind without a variable, is not told from a person's. A signature by a key that asks is the lock.
 *
 * @param asks - `client`: an agent's client asked the person before it.
 */
export function agentSign(
  { repository }: Pick<World, 'repository'>,
  asks: 'anybody' | 'client' = 'anybody',
): AgentSign | null {
  const variable = agentAtWork(asks === 'client' ? clientEnvironment(repository.env) : repository.env)
  if (variable !== null) return { variable, what: `${variable} is set` }
  const above = startedWith(ownMarks).find((one) => isSet(one.value))
  if (above !== undefined)
    return {
      variable: above.variable,
      what: `${above.variable} was set for process ${above.pid}, which this one comes from`,
    }
  const directory = ownDirectory()
  return directory !== null && isWorkTree(scratchHome(repository), directory)
    ? { variable: null, what: `${directory} is a tree that checks and runs work in` }
    : null
}

/** A person works in a tree that `galley open` gave, and in no other one. */
function isWorkTree(home: string, directory: string): boolean {
  if (!directory.startsWith(join(home, sep))) return false
  const [tree = ''] = directory.slice(join(home, sep).length).split(sep)
  return !tree.endsWith('-full')
}
