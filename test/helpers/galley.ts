import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { type Galley, open } from '../../src/flow/galley.ts'
import { GalleyError } from '../../src/model/error.ts'
import type { TestRepo } from './repo.ts'

const program = join(import.meta.dirname, '../../dist/galley.js')

/** Opens the library on a test repository; closed when the scope ends. */
export async function openGalley(
  repo: TestRepo,
  options: { readonly dir?: string; readonly env?: Record<string, string> } = {},
) {
  const galley: Galley = await open(options.dir ?? repo.dir, { env: { ...repo.env, ...options.env } })
  return { ...galley, [Symbol.asyncDispose]: () => galley.close() }
}

export interface CliResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the command printed
  readonly json: any
}

/** Runs the built command line. */
export function cli(
  repo: TestRepo,
  args: readonly string[],
  options: {
    readonly input?: string | Uint8Array
    readonly cwd?: string
    readonly env?: Record<string, string>
  } = {},
): CliResult {
  const result = spawnSync(process.execPath, [program, ...args], {
    cwd: options.cwd ?? repo.dir,
    env: { ...repo.env, ...options.env },
    input: options.input ?? '',
    maxBuffer: 1 << 28,
  })
  const stdout = result.stdout.toString('utf8')
  const json = args.includes('--json') && stdout !== '' ? JSON.parse(stdout) : null
  return { code: result.status, stdout, stderr: result.stderr.toString('utf8'), json }
}

/** The refusal that a task ends in. Fails when it does not. */
export async function refusal(task: () => Promise<unknown>): Promise<GalleyError> {
  try {
    await task()
  } catch (error) {
    if (error instanceof GalleyError) return error
    throw error
  }
  throw new Error('expected a refusal, and it was done')
}

/** Runs git with input, for objects and refs that no porcelain makes. */
export const gitInput = (repo: TestRepo, args: readonly string[], input: string | Uint8Array): string =>
  execFileSync('git', [...args], { cwd: repo.dir, env: repo.env, input, encoding: 'utf8' }).trim()

/** A batch with a title. */
export const batch = (edits: readonly object[], more: object = {}): object => ({
  version: 1,
  title: 'A change',
  edits,
  ...more,
})
