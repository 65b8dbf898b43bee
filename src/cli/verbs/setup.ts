import { refuseAgents } from '../../flow/approve.ts'
import type { World } from '../../flow/world.ts'
import { GalleyError, refuse } from '../../model/error.ts'
import { visible } from '../../review/visible.ts'
import { type AgentClient, agentClients, type Machine, type ServerCommand } from '../../setup/clients.ts'
import { findClients, serverCommand } from '../../setup/find-clients.ts'
import { applySetup, type PlannedWrite, planSetup, removeSetup, type SetupPlace } from '../../setup/setup.ts'
import { shownWrite } from '../../setup/shown-write.ts'
import { usageError } from '../errors.ts'
import { machineOf, stateDirectoryOf } from '../setup-place.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const setup: Verb = {
  usage: 'setup [client…] [options]',
  summary: 'Connect the agents on this machine to the gate: write their settings, on a yes.',
  details: `Finds the agents' clients on this machine and in this repository, shows what it would write into their settings, and writes it on a
yes. All else in the files stays as it is; --remove puts back what was there. Clients: ${agentClients.map(({ name }) => name).join(', ')}.`,
  examples: [
    ['galley setup', 'every client that is found, for this repository'],
    ['galley setup codex --user', 'Codex, for all repositories'],
    ['galley setup --remove', 'everything as it was'],
  ],
  options: (yargs) =>
    yargs
      .option('project', {
        type: 'boolean',
        default: false,
        describe: 'For this repository (the default in one)',
      })
      .option('user', { type: 'boolean', default: false, describe: 'For all repositories of yours' })
      .option('yes', { alias: 'y', type: 'boolean', default: false, describe: 'Write without asking' })
      .option('dry-run', { type: 'boolean', default: false, describe: 'Show it and write nothing' })
      .option('remove', { type: 'boolean', default: false, describe: 'Take it away again' })
      .option('command', {
        type: 'string',
        describe: 'What starts galley, with blanks between its words; default: galley on PATH, else npx',
      }),
  run: async (context, args) => {
    const world = await repositoryOf(context, args)
    const machine = expectMachine(context)
    const place = placeOf(args, world, machine)
    const chosen = await chooseClients(args, world, machine)
    if (args['dry-run'] !== true) refuseWriter(world)
    if (args['remove'] === true) return remove(chosen, place, args['dry-run'] === true)
    const server = serverOf(args) ?? (await serverCommand(machine))
    return write(context, args, { chosen, place, server })
  },
}

/** null = the user's own settings, outside of any repository. */
async function repositoryOf(context: CliContext, args: Arguments): Promise<World | null> {
  if (args['project'] === true && args['user'] === true)
    throw usageError('give --project or --user, not both')
  try {
    return await context.world()
  } catch (error) {
    const isElsewhere = error instanceof GalleyError && error.code === 'not-a-repository'
    if (!isElsewhere || args['project'] === true) throw error
    return null
  }
}

function expectMachine(context: CliContext): Machine {
  const machine = machineOf(context)
  if (machine === null) refuse('usage', 'no HOME is set: the settings of clients lie below it', {})
  return machine
}

function placeOf(args: Arguments, world: World | null, machine: Machine): SetupPlace {
  const scope = args['user'] === true || world === null ? 'user' : 'project'
  const root = world?.repository.workTree ?? null
  if (scope === 'project' && root === null)
    refuse('unsupported-repository', 'a bare repository has no settings of its own', {}, 'Use --user.')
  return { scope, root: root ?? '', machine, stateDirectory: stateDirectoryOf(machine) }
}

async function chooseClients(
  args: Arguments,
  world: World | null,
  machine: Machine,
): Promise<readonly AgentClient[]> {
  const words = args['_'] as readonly string[]
  if (words.length === 0) {
    const seen = await findClients(world?.repository.workTree ?? null, machine)
    return seen.flatMap(({ client, sign }) => (sign === null ? [] : [client]))
  }
  return words.map((word) => {
    const found = agentClients.find(({ name }) => name === word)
    if (found !== undefined) return found
    throw usageError(
      `unknown client ${JSON.stringify(word.slice(0, 40))}; known: ${agentClients.map(({ name }) => name).join(', ')}`,
    )
  })
}

/** To open a door, or to close it, is a person's. */
function refuseWriter(world: World | null): void {
  if (world !== null)
    refuseAgents(world, {
      message: 'setup writes the settings of agents, and the environment shows one at work',
      hint: 'A person runs `galley setup` in a terminal of their own; --dry-run shows what it would write.',
    })
}

function serverOf(args: Arguments): ServerCommand | null {
  const { command } = args
  if (command === undefined) return null
  const [program, ...words] = String(command)
    .split(' ')
    .filter((word) => word !== '')
  if (program === undefined) throw usageError('--command names a program')
  return { command: program, args: words }
}

async function remove(chosen: readonly AgentClient[], place: SetupPlace, isDry: boolean): Promise<Answer> {
  const rows: Record<string, unknown>[] = []
  for (const client of isDry ? [] : chosen)
    rows.push({ client: client.name, ...(await removeSetup(client, place)) })
  const words = {
    restored: 'as it was before',
    'taken-out': "galley's entry is taken out",
    none: 'there was none',
  }
  const lines = rows.map(
    ({ client, path, kind }) => `${client}: ${visible(String(path))}: ${words[kind as keyof typeof words]}\n`,
  )
  return { value: { removed: rows }, text: lines.join('') || 'There is nothing to take away.\n' }
}

async function write(
  context: CliContext,
  args: Arguments,
  {
    chosen,
    place,
    server,
  }: { readonly chosen: readonly AgentClient[]; readonly place: SetupPlace; readonly server: ServerCommand },
): Promise<Answer> {
  if (chosen.length === 0) return { value: { clients: [] }, text: NONE_FOUND }
  // All of them are planned before the first is written.
  const planned = await Promise.all(chosen.map((client) => planSetup(client, server, place)))
  const shown = planned.map(planText).join('')
  const open = planned.filter(({ kind }) => kind !== 'same')
  const isDry = args['dry-run'] === true
  if (open.length > 0 && !isDry && args['yes'] !== true) {
    context.terminal.write(shown)
    if (!(await context.terminal.confirm('Write this?')))
      return {
        value: { clients: planned.map(planValue(false)) },
        text: 'Nothing was written.\n',
        exitCode: 1,
      }
  }
  if (!isDry) for (const one of open) await applySetup(one, place)
  const asked = !isDry && args['yes'] !== true && open.length > 0
  const after = isDry ? '' : open.map(({ client, scope }) => noteOf(client, scope)).join('')
  return {
    value: { clients: planned.map(planValue(!isDry)) },
    text: `${asked ? '' : shown}${isDry || open.length === 0 ? '' : 'Written.\n'}${after}`,
  }
}

const NONE_FOUND = `No client was found. Name one: galley setup <client>, of ${agentClients.map(({ name }) => name).join(', ')}.\n`

const noteOf = ({ afterwards }: AgentClient, scope: 'project' | 'user'): string =>
  afterwards[scope] === '' ? '' : `${afterwards[scope]}\n`

function planText(planned: PlannedWrite): string {
  const { client, path, kind, found } = planned
  if (kind === 'same') return `${client.title}: ${visible(path)} has it already\n`
  const other =
    kind === 'replace' ? `  another entry by that name stands there: ${visible(JSON.stringify(found))}\n` : ''
  const lines = visible(shownWrite(planned))
    .split('\n')
    .map((line) => `  ${line}\n`)
  return `${client.title}: ${visible(path)}\n${other}${lines.join('')}`
}

const planValue =
  (isWritten: boolean) =>
  ({ client, scope, path, kind }: PlannedWrite) => ({
    client: client.name,
    scope,
    path,
    kind,
    written: isWritten && kind !== 'same',
  })
