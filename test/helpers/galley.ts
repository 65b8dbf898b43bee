import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { runCli } from '../../src/cli/main.ts'
import { type Galley, open } from '../../src/flow/galley.ts'
import { GalleyError } from '../../src/model/error.ts'
import type { TestRepo } from './repo.ts'

/** The command as it was built. */
export const builtProgram = join(import.meta.dirname, '../../dist/galley.js')

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

interface CliOptions {
  readonly input?: string | Uint8Array
  readonly cwd?: string
  readonly env?: Record<string, string>
}

/** Runs the built command line, in a process of its own: for what depends on the process, its end, or the bundle. */
export function cli(repo: TestRepo, args: readonly string[], options: CliOptions = {}): CliResult {
  const result = spawnSync(process.execPath, [builtProgram, ...args], {
    cwd: options.cwd ?? repo.dir,
    env: { ...repo.env, ...options.env },
    input: options.input ?? '',
    maxBuffer: 1 << 28,
  })
  return asResult(args, result.status, result.stdout.toString('utf8'), result.stderr.toString('utf8'))
}

/**
 * Runs the command line in this process: the same words, output and exit code, without the 100 ms that node takes to start.
 *
 * Not for a verb that hands its own standard streams to another program (`run`).
 */
export async function cliHere(
  repo: TestRepo,
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = Promise.all([buffer(stdout), buffer(stderr)])
  const code = await runCli(args, {
    argv: [process.execPath, builtProgram, ...args],
    env: { ...repo.env, ...options.env },
    cwd: () => options.cwd ?? repo.dir,
    stdin: Readable.from([Buffer.from(options.input ?? '')]) as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
  })
  stdout.end()
  stderr.end()
  const [out, err] = await said
  return asResult(args, code, out.toString('utf8'), err.toString('utf8'))
}

function asResult(args: readonly string[], code: number | null, stdout: string, stderr: string): CliResult {
  return { code, stdout, stderr, json: args.includes('--json') && stdout !== '' ? JSON.parse(stdout) : null }
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
