import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ClientName } from '../../src/setup/clients.ts'
import { projectRoot } from './source-tree.ts'

/**
 * The real clients of agents, at these versions, each in a folder of its own: `GALLEY_AGENTS_DIR`, or `node_modules/.agents`. Together
 * they take 1.3 GB, so that they are installed by the long tests alone, on demand.
 */
const folder = process.env['GALLEY_AGENTS_DIR'] ?? join(projectRoot, 'node_modules/.agents')

interface RealClient {
  readonly package: string
  readonly version: string
  readonly program: string
  readonly env: (modelUrl: string) => Readonly<Record<string, string>>
  /** Files below HOME that it needs beside what `galley setup` writes. */
  readonly files: (modelUrl: string) => Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** How it names a tool of galley's. */
  readonly tool: (name: string) => string
}

export const realClients = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    program: 'claude',
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
    }),
    files: () => ({
      '.claude/settings.json': '{"permissions":{"allow":["mcp__galley"]}}',
      '.claude.json': '{"hasCompletedOnboarding":true}',
    }),
    args: ['-p', 'go', '--output-format', 'json'],
    tool: (name) => `mcp__galley__${name}`,
  },
  codex: {
    package: '@openai/codex',
    version: '0.171.0',
    program: 'codex',
    env: () => ({ MOCK_KEY: 'dummy' }),
    files: (url) => ({
      '.codex/config.toml': `model = "gpt-5.5"
model_provider = "mock"
check_for_update_on_startup = false
analytics = { enabled = false }
features = { plugins = false }

[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
`,
    }),
    args: ['exec', '--skip-git-repo-check', '-s', 'workspace-write', 'go'],
    tool: (name) => `mcp__galley.${name}`,
  },
  'gemini-cli': {
    package: '@google/gemini-cli',
    version: '0.61.0',
    program: 'gemini',
    env: (url) => ({
      GEMINI_API_KEY: 'dummy',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        model: { name: 'gemini-3.1-pro-preview' },
      }),
    }),
    args: ['-p', 'go', '--yolo', '--skip-trust'],
    tool: (name) => `mcp_galley_${name}`,
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    program: 'opencode',
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }),
    files: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        model: 'mock/m',
        provider: {
          mock: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
            models: { m: {} },
          },
        },
        autoupdate: false,
        share: 'disabled',
      }),
    }),
    args: ['run', 'go'],
    tool: (name) => `galley_${name}`,
  },
} satisfies Partial<Record<ClientName, RealClient>> as Record<string, RealClient>

/** The client's program, installed where it is missing; or why it cannot be had. */
export const installClient = (client: RealClient): Installed =>
  installPackage(client.package, client.version, `node_modules/.bin/${client.program}`)

export type Installed = { readonly path: string } | { readonly why: string }

/** A file of a package, which is installed in a folder of its own where it is missing. */
export function installPackage(name: string, version: string, file: string): Installed {
  const place = join(folder, `${name.replace(/^@.*\//, '')}-${version}`)
  const path = join(place, file)
  if (existsSync(path)) return { path }
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(join(folder, '.draft-'))
  writeFileSync(join(draft, 'package.json'), '{"private":true}')
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1']
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, `${name}@${version}`], {
    cwd: draft,
    encoding: 'utf8',
    timeout: 300_000,
  })
  if (status === 0) renameSync(draft, place)
  rmSync(draft, { recursive: true, force: true })
  return existsSync(path)
    ? { path }
    : { why: `npm install ${name}@${version}: ${stderr.split('\n')[0] ?? ''}` }
}

/** Puts a client's own files below a HOME. */
export function configure(client: RealClient, home: string, modelUrl: string): void {
  for (const [path, text] of Object.entries(client.files(modelUrl))) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
}

/** Runs one whole session of a client, in a process group of its own that ends with it. */
export function runClient(
  client: RealClient,
  path: string,
  place: {
    readonly home: string
    readonly cwd: string
    readonly modelUrl: string
    readonly timeoutMs: number
  },
): Promise<{ readonly code: number | null; readonly output: string }> {
  const tmp = join(place.home, 'tmp')
  mkdirSync(tmp, { recursive: true })
  const env = {
    HOME: place.home,
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    TMPDIR: tmp,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...client.env(place.modelUrl),
  }
  const child = spawn(path, [...client.args], {
    cwd: place.cwd,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const end = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The whole group had ended by itself.
    }
  }
  const timer = setTimeout(end, place.timeoutMs)
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => {
      clearTimeout(timer)
      end()
      resolve({ code, output })
    })
  })
}
