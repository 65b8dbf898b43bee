import { run } from '../sys/process.ts'

const TIMEOUT_MS = 10 * 60_000
const OUTPUT_BYTES = 64 * 1024

/**
 * Runs a hook of the user's, if there is one, as git itself would, after something that it can no longer change: its
 * exit code does not matter. (`git merge` treats `post-merge` so.)
 *
 * @param workTree - Where it runs; git finds the repository from there.
 * @param env - The whole environment of the hook.
 * @returns What it said, when it failed.
 */
export async function runHook(
  workTree: string,
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const result = await run({
    file: 'git',
    args: ['hook', 'run', '--ignore-missing', name, '--', ...args],
    cwd: workTree,
    env,
    timeoutMs: TIMEOUT_MS,
    outputMaxBytes: OUTPUT_BYTES,
  })
  if (result.exitCode === 0) return []
  const said = `${result.stdout}${result.stderr}`.trim().slice(0, 2000)
  return [`the ${name} hook ended with exit code ${result.exitCode ?? 'none'}: ${said}`]
}
