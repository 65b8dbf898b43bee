import { delimiter, join } from 'node:path'
import { firstThere } from '../flow/client-files.ts'
import { type AgentClient, agentClients, type Machine, type ServerCommand } from './clients.ts'

export interface SeenClient {
  readonly client: AgentClient
  /** What shows that it is used here; null = nothing does. */
  readonly sign: string | null
}

/** Looks which clients are on this machine and in this repository. Starts none. */
export async function findClients(root: string | null, machine: Machine): Promise<readonly SeenClient[]> {
  return Promise.all(
    agentClients.map(async (client) => {
      const folders = client.homeFolders.map((folder) => join(machine.home, folder))
      const own = root === null ? [] : client.projectFolders.map((folder) => join(root, folder))
      const sign = await firstThere([...own, ...programPlaces(client.programs, machine), ...folders])
      return { client, sign }
    }),
  )
}

/** Where a program of one of these names would lie. */
function programPlaces(names: readonly string[], { env, platform }: Machine): readonly string[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const endings = platform === 'win32' ? ['.exe', '.cmd', ''] : ['']
  return folders.flatMap((folder) =>
    names.flatMap((name) => endings.map((ending) => join(folder, `${name}${ending}`))),
  )
}

/** How clients start galley: as it lies on PATH, else by npm. */
export async function serverCommand(machine: Machine): Promise<ServerCommand> {
  const isInstalled = (await firstThere(programPlaces(['galley'], machine))) !== null
  return isInstalled ? { command: 'galley', args: ['mcp'] } : byNpm
}

export const byNpm: ServerCommand = { command: 'npx', args: ['-y', 'git-galley', 'mcp'] }
