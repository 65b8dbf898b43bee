import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { expect, test, vi } from 'vitest'
import { run } from '../../src/sys/process.ts'

const request = (line: string, timeoutMs = 20_000) => ({
  file: '/bin/sh',
  args: ['-c', line],
  cwd: tmpdir(),
  env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
  timeoutMs,
  outputMaxBytes: 1000,
  ownGroup: true,
})

/** Dead and not yet reaped (Z) is dead. */
function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('Z')
  } catch {
    return false
  }
}

test('a program that leaves another running is over when it ends itself, and the other is ended', async () => {
  const result = await run(request('sleep 300 & echo $!'))
  expect(result).toMatchObject({ exitCode: 0, timedOut: false })
  const pid = Number(result.stdout.toString())
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 5_000)
})

test('one that leaves its group and keeps the output open does not hold us', async () => {
  const started = performance.now()
  const result = await run(request('setsid sleep 5 & echo done'))
  expect(result.stdout.toString()).toBe('done\n')
  expect(performance.now() - started).toBeLessThan(4_000)
})

test('time and output are bounded', async () => {
  expect(await run(request('sleep 300', 100))).toMatchObject({ exitCode: null, timedOut: true })
  const flood = await run(request('yes | head -c 100000'))
  expect(flood).toMatchObject({ outputTruncated: true })
  expect(flood.stdout).toHaveLength(1000)
})
