import { limits } from '../model/limits.ts'
import type { CheckCommand, Policy } from '../model/policy.ts'
import { defaultPolicy } from './default-policy.ts'
import {
  type Field,
  listOf,
  needed,
  orElse,
  positiveNumber,
  type Read,
  readFlag,
  readMembers,
  wordOf,
} from './policy-reader.ts'
import { readCommand, readGlobs, readName } from './policy-values.ts'

type Checks = Pick<Policy, 'checks' | 'checkHooks' | 'recheck'>

const readRecheck = wordOf(['full', 'touched'])
const readTree = wordOf<CheckCommand['tree']>(['touched', 'full'])

/** A day: longer checks belong to a server. */
const timeoutMaxSeconds = 24 * 60 * 60

/**
 * Reads `checks`, which is a list of commands or `{ commands, hooks, recheck }`, and the `recheck` beside it.
 * Where `recheck` stands in both places they must agree.
 */
export function readChecks(checks: Field, recheck: Field): Checks {
  const beside = orElse(recheck, readRecheck, defaultPolicy.recheck)
  if (checks.value === undefined || Array.isArray(checks.value)) {
    return {
      checks: orElse(checks, readCommands, defaultPolicy.checks),
      checkHooks: defaultPolicy.checkHooks,
      recheck: beside,
    }
  }
  const member = readMembers(checks, ['commands', 'hooks', 'recheck'])
  if (member === undefined) return { ...defaultPolicy, recheck: beside }
  const inside = orElse(member('recheck'), readRecheck, beside)
  if (recheck.value !== undefined && inside !== beside) {
    recheck.notes.add(recheck.way, `"recheck" is "${beside}" here and "${inside}" in "checks"`)
  }
  return {
    checks: orElse(member('commands'), readCommands, defaultPolicy.checks),
    checkHooks: orElse(member('hooks'), readFlag, defaultPolicy.checkHooks),
    recheck: inside,
  }
}

const readCommands: Read<readonly CheckCommand[]> = (field) => {
  const commands = listOf(readCheck)(field)
  if (!Array.isArray(field.value)) return commands
  const seen = new Set<unknown>()
  for (const [index, value] of field.value.entries()) {
    const name: unknown = typeof value === 'object' && value !== null ? value.name : undefined
    if (typeof name !== 'string') continue
    if (seen.has(name)) field.notes.add([...field.way, index, 'name'], `two checks have the name "${name}"`)
    seen.add(name)
  }
  return commands
}

const readCheck: Read<CheckCommand> = (field) => {
  const member = readMembers(field, ['name', 'run', 'tree', 'timeoutSeconds', 'paths', 'required'])
  if (member === undefined) return undefined
  const name = needed(member('name'), readName)
  const run = needed(member('run'), readCommand)
  const timeoutSeconds = orElse(member('timeoutSeconds'), positiveNumber(timeoutMaxSeconds), null)
  const rest = {
    tree: orElse(member('tree'), readTree, 'full'),
    timeoutMs: timeoutSeconds === null ? limits.checkDefaultTimeoutMs : Math.ceil(timeoutSeconds * 1000),
    paths: orElse(member('paths'), readGlobs, []),
    required: orElse(member('required'), readFlag, true),
  }
  return name === undefined || run === undefined ? undefined : { name, run, ...rest }
}
