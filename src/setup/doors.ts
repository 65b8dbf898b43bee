import { join } from 'node:path'
import { firstThere, readClientFile } from '../flow/client-files.ts'
import { probeServer } from '../flow/probe-server.ts'
import { GalleyError } from '../model/error.ts'
import { type Finding, good, note, problem } from '../model/finding.ts'
import { type AgentClient, agentClients, type Machine, type ServerCommand } from './clients.ts'
import { tomlText } from './edit-toml.ts'
import { byNpm } from './find-clients.ts'
import { isSameValue } from './settings-text.ts'
import { findSetup, type SetupPlace } from './setup.ts'

const PROBE_TIMEOUT_MS = 20_000

/** What setup may have written: only these are started by a look. A repository's file can name any program. */
const ownServers: readonly ServerCommand[] = [{ command: 'galley', args: ['mcp'] }, byNpm]

/**
 * Looks at the doors that agents' clients have to galley here: whether each leads to galley, whether it answers, and whether the client
 * lets it in.
 */
export async function examineDoors(place: Omit<SetupPlace, 'scope'>): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const client of agentClients)
    for (const scope of ['project', 'user'] as const)
      found.push(...(await examineDoor(client, { ...place, scope }).catch(unreadable(client))))
  return found
}

/** Settings that cannot be read are their owner's to put right; the other doors are looked at all the same. */
const unreadable =
  ({ title }: AgentClient) =>
  (error: unknown): readonly Finding[] => {
    if (!(error instanceof GalleyError)) throw error
    return [note('doors', `${title}: ${error.message} (${error.code})`)]
  }

async function examineDoor(client: AgentClient, place: SetupPlace): Promise<readonly Finding[]> {
  const { path, entry } = await findSetup(client, place)
  if (entry === undefined) return []
  const server = ownServers.find((own) => isSameValue(client.entry(own), entry))
  if (server === undefined) {
    const advice = `\`galley setup ${client.name} --${place.scope} --dry-run\` shows what it would be.`
    return [
      note(
        'doors',
        `${client.title}: the entry "galley" in ${path} is not as setup writes it; it was not tried`,
        advice,
      ),
    ]
  }
  const { env, ...machine } = place.machine
  const probed = await probeServer({ ...server, cwd: place.root, env, timeoutMs: PROBE_TIMEOUT_MS })
  if (probed.kind === 'silent') {
    const advice = `It starts \`${[server.command, ...server.args].join(' ')}\`: see whether that runs in a terminal.`
    return [
      problem('doors', `${client.title}: galley does not answer as ${path} starts it: ${probed.why}`, advice),
    ]
  }
  const closed = await whyClosed(client, place, { ...machine, env })
  return closed === null
    ? [
        good(
          'doors',
          `${client.title}: ${path} starts galley, and it answers with ${probed.tools.length} tools`,
        ),
      ]
    : [problem('doors', `${client.title}: ${closed}`, client.afterwards[place.scope])]
}

/** Why a client does not let a project's server in, as far as its own settings say; null = nothing is known against it. */
async function whyClosed(
  { name }: AgentClient,
  { scope, root }: SetupPlace,
  machine: Machine,
): Promise<string | null> {
  if (scope === 'user') return null
  if (name === 'codex') {
    const file = join(machine.env['CODEX_HOME'] || join(machine.home, '.codex'), 'config.toml')
    const level = tomlText.find((await settings(file)) ?? '', ['projects', root, 'trust_level'])
    return level === 'trusted' ? null : `Codex does not trust ${root}, so it does not read .codex/config.toml`
  }
  if (name === 'claude-code') {
    const known = parsed(await settings(join(machine.home, '.claude.json')))
    const project = recordAt(recordAt(known, 'projects'), root)
    const enabled = project?.['enabledMcpjsonServers']
    const own = parsed(await settings(join(machine.home, '.claude/settings.json')))
    const isEnabled =
      (Array.isArray(enabled) && enabled.includes('galley')) || own?.['enableAllProjectMcpServers'] === true
    return isEnabled ? null : `the server of ${join(root, '.mcp.json')} has not been approved yet`
  }
  return null
}

const settings = async (path: string): Promise<string | null> =>
  (await firstThere([path])) === null ? null : readClientFile({ path, isProject: false })

type Values = Readonly<Record<string, unknown>>

function parsed(text: string | null): Values | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as Values)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function recordAt(value: unknown, key: string): Values | undefined {
  const inner = (value as Values | undefined)?.[key]
  return typeof inner === 'object' && inner !== null ? (inner as Values) : undefined
}
