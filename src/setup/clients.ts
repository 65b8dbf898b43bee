import { join } from 'node:path'

export type ClientName = 'claude-code' | 'codex' | 'gemini-cli' | 'opencode' | 'vscode' | 'cursor' | 'zed'
export type Scope = 'project' | 'user'

/** The program that a client starts, and its arguments. */
export interface ServerCommand {
  readonly command: string
  readonly args: readonly string[]
}

/** Where things are on this machine. */
export interface Machine {
  readonly home: string
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** One client: how it is known, and where and how it is told of a server. */
export interface AgentClient {
  readonly name: ClientName
  readonly title: string
  /** Programs on PATH that show it is installed. */
  readonly programs: readonly string[]
  /** Folders that show it is used: below HOME, and in a repository. */
  readonly homeFolders: readonly string[]
  readonly projectFolders: readonly string[]
  readonly form: 'json' | 'toml'
  /** Where in the file the servers are. */
  readonly key: string
  /** Files in the order in which they are looked for; the first is the one that is made. */
  readonly files: (
    scope: Scope,
    at: { readonly root: string; readonly machine: Machine },
  ) => readonly string[]
  readonly entry: (server: ServerCommand) => Readonly<Record<string, unknown>>
  /** What the person does after that, if anything. */
  readonly afterwards: Readonly<Record<Scope, string>>
}

const plain = ({ command, args }: ServerCommand) => ({ command, args })

const configHome = ({ home, env }: Machine): string => env['XDG_CONFIG_HOME'] || join(home, '.config')

/** Where editors of VS Code's family keep a user's settings. */
function userData({ home, platform, env }: Machine, product: string): string {
  if (platform === 'darwin') return join(home, 'Library/Application Support', product, 'User')
  if (platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData/Roaming'), product, 'User')
  return join(configHome({ home, platform, env }), product, 'User')
}

/** The clients that `galley setup` knows, in the order in which it tells of them. */
export const agentClients: readonly AgentClient[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    programs: ['claude'],
    homeFolders: ['.claude'],
    projectFolders: ['.claude', '.mcp.json'],
    form: 'json',
    key: 'mcpServers',
    files: (scope, { root, machine }) =>
      scope === 'project' ? [join(root, '.mcp.json')] : [join(machine.home, '.claude.json')],
    entry: ({ command, args }) => ({ type: 'stdio', command, args, env: {} }),
    afterwards: {
      project: 'Claude Code asks once whether to use it: start `claude` here, and say yes.',
      user: '',
    },
  },
  {
    name: 'codex',
    title: 'Codex',
    programs: ['codex'],
    homeFolders: ['.codex'],
    projectFolders: ['.codex'],
    form: 'toml',
    key: 'mcp_servers',
    files: (scope, { root, machine }) => [
      scope === 'project'
        ? join(root, '.codex/config.toml')
        : join(machine.env['CODEX_HOME'] || join(machine.home, '.codex'), 'config.toml'),
    ],
    entry: plain,
    afterwards: {
      project: 'Codex reads it only where it trusts the project: start `codex` here, and say so.',
      user: '',
    },
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    programs: ['gemini'],
    homeFolders: ['.gemini'],
    projectFolders: ['.gemini'],
    form: 'json',
    key: 'mcpServers',
    files: (scope, { root, machine }) => [
      join(scope === 'project' ? root : machine.home, '.gemini/settings.json'),
    ],
    entry: plain,
    afterwards: {
      project: 'Gemini CLI shows it as disabled until it trusts the folder: start `gemini` here.',
      user: '',
    },
  },
  {
    name: 'opencode',
    title: 'opencode',
    programs: ['opencode'],
    homeFolders: ['.config/opencode'],
    projectFolders: ['.opencode', 'opencode.json', 'opencode.jsonc'],
    form: 'json',
    key: 'mcp',
    files: (scope, { root, machine }) => {
      const folder = scope === 'project' ? root : join(configHome(machine), 'opencode')
      return [join(folder, 'opencode.json'), join(folder, 'opencode.jsonc')]
    },
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
    afterwards: { project: '', user: '' },
  },
  {
    name: 'vscode',
    title: 'VS Code',
    programs: ['code'],
    homeFolders: ['.vscode'],
    projectFolders: ['.vscode'],
    form: 'json',
    key: 'servers',
    files: (scope, { root, machine }) => [
      scope === 'project' ? join(root, '.vscode/mcp.json') : join(userData(machine, 'Code'), 'mcp.json'),
    ],
    // It starts servers wherever it likes: the folder is said.
    entry: ({ command, args }) => ({ type: 'stdio', command, args: [...args, `\${workspaceFolder}`] }),
    afterwards: { project: 'VS Code asks whether it trusts the server when it first starts it.', user: '' },
  },
  {
    name: 'cursor',
    title: 'Cursor',
    programs: ['cursor', 'cursor-agent'],
    homeFolders: ['.cursor'],
    projectFolders: ['.cursor'],
    form: 'json',
    key: 'mcpServers',
    files: (scope, { root, machine }) => [
      join(scope === 'project' ? root : machine.home, '.cursor/mcp.json'),
    ],
    entry: ({ command, args }) => ({ command, args: [...args, `\${workspaceFolder}`] }),
    afterwards: { project: 'Cursor lists it under Settings, MCP: switch it on there.', user: '' },
  },
  {
    name: 'zed',
    title: 'Zed',
    programs: ['zed', 'zeditor'],
    homeFolders: ['.config/zed'],
    projectFolders: ['.zed'],
    form: 'json',
    key: 'context_servers',
    files: (scope, { root, machine }) => [
      scope === 'project' ? join(root, '.zed/settings.json') : join(configHome(machine), 'zed/settings.json'),
    ],
    entry: ({ command, args }) => ({ command, args, env: {} }),
    afterwards: { project: '', user: '' },
  },
]

/** The name of galley's entry in every file. */
export const ENTRY = 'galley'
