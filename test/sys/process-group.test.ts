import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runInGroup } from '../../src/sys/process-group.ts'
import { holdersOf, membersOf, startOf } from '../../src/sys/process-group-members.ts'

let home = ''
let count = 0
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'galley-group-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

// What these scripts leave when the tests themselves are killed ends by itself.
const newMark = () => `mark-${process.pid}-${count++}-${Math.random()}`

const shell = (script: string, mark = newMark(), tree: string | null = null) =>
  runInGroup({
    file: '/bin/sh',
    args: ['-c', script],
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', MARK: mark },
    mark,
    tree,
    stdio: 'none',
    forwardsSignals: false,
  })

const isRunning = (pid: number) =>
  spawnSync('sh', ['-c', `kill -0 ${pid} 2>/dev/null && ! grep -q '^State:.*Z' /proc/${pid}/status`])
    .status === 0

/** Ends when a process that starts now is younger than this one: the system counts their starts in hundredths of a second. */
function pastTickOf(pid: number): void {
  const startOfNew = () =>
    Number(spawnSync('cut', ['-d ', '-f22', '/proc/self/stat'], { encoding: 'utf8' }).stdout)
  while (startOfNew() <= (startOf(pid) ?? 0));
}

const pidIn = (name: string) => Number(readFileSync(join(home, name), 'utf8'))

describe('a command in a group of its own', () => {
  test('gives its exit code, or the signal that ended it', async () => {
    expect(await shell('exit 255')).toMatchObject({ exitCode: 255, signal: null, ended: 0 })
    expect(await shell('kill -TERM $$')).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
  })

  test('is refused by the system when there is no such program', async () => {
    const request = {
      file: join(home, 'nothing'),
      args: [],
      cwd: home,
      env: {},
      mark: newMark(),
      tree: null,
    } as const
    await expect(runInGroup({ ...request, stdio: 'none', forwardsSignals: false })).rejects.toMatchObject({
      code: 'ENOENT',
    })
  })

  test('takes background processes with it', async () => {
    const result = await shell('sleep 300 & echo $! > background; exit 3')
    expect(result).toMatchObject({ exitCode: 3, ended: 1, survivors: [] })
    expect(isRunning(pidIn('background'))).toBe(false)
  })

  test('takes those with it that made a session of their own, and those that ignore the request to end', async () => {
    const result = await shell(
      'setsid sh -c \'trap "" TERM HUP; echo $$ > stubborn; for i in $(seq 1000); do sleep 0.05; done\' & while [ ! -s stubborn ]; do sleep 0.02; done',
    )
    expect(result.exitCode).toBe(0)
    expect(result.survivors).toEqual([])
    expect(isRunning(pidIn('stubborn'))).toBe(false)
  })

  test('takes those with it that cleared their environment and stayed in the session', async () => {
    await shell('env -i /bin/sleep 300 & echo $! > bare')
    expect(isRunning(pidIn('bare'))).toBe(false)
  })

  test.each([
    ['has its tree as working directory', 'cd "$T"; env -i setsid sleep 300', ''],
    ['has a file of its tree open', 'cd /; exec 3>>"$T/f"; env -i setsid sleep 300', ''],
    [
      'runs a program of its tree',
      'cd /; env -i setsid "$T/program" 300',
      'cp "$(command -v sleep)" "$T/program";',
    ],
  ])('takes those with it whom nothing but the tree gives away: one that %s', async (_, script, first) => {
    const tree = mkdtempSync(join(home, 'tree-'))
    const start = `${first.replaceAll('$T', tree)} ( ${script.replaceAll('$T', tree)} ) & for i in $(seq 300); do pgrep -f 'sleep 300|program 300' | head -1 > found; sleep 0.01; [ ! -s found ] || break; done; sleep 0.1`
    expect(await shell(start, newMark(), tree)).toMatchObject({ survivors: [] })
    expect(holdersOf(tree)).toEqual([])
  })

  test('leaves whoever was in its tree before it, and tells of them', async () => {
    const tree = mkdtempSync(join(home, 'tree-'))
    const other = spawn('/bin/sleep', ['300'], { stdio: 'ignore', cwd: tree })
    try {
      pastTickOf(other.pid ?? -1)
      await shell('sleep 300 & true', newMark(), tree)
      expect(holdersOf(tree)).toEqual([other.pid])
    } finally {
      other.kill('SIGKILL')
    }
  })

  test('leaves the processes of others alone', async () => {
    const other = spawn('/bin/sleep', ['300'], { stdio: 'ignore' })
    try {
      await shell('sleep 300 & true')
      expect(isRunning(other.pid ?? -1)).toBe(true)
    } finally {
      other.kill('SIGKILL')
    }
  })

  test('is over when the command is, though a background process holds the output open', async () => {
    expect(await shell('trap "" TERM; sleep 300 & true')).toMatchObject({ ended: 1, survivors: [] })
  })

  test('hands on the signals of the process that runs it', async () => {
    const program = join(home, 'runner.mjs')
    const entry = join(home, 'runner.ts')
    const group = join(import.meta.dirname, '../../src/sys/process-group.ts')
    writeFileSync(
      entry,
      `import { runInGroup } from ${JSON.stringify(group)}
       const result = await runInGroup({ file: '/bin/sh', args: ['-c', 'trap "echo int > got; exit 7" INT; echo > ready; for i in $(seq 3000); do sleep 0.02; done'], cwd: ${JSON.stringify(home)}, env: { PATH: process.env.PATH ?? '', M: 'signal-test' }, mark: 'signal-test-mark', tree: null, stdio: 'inherit', forwardsSignals: true })
       process.exitCode = result.exitCode ?? 1`,
    )
    buildSync({ entryPoints: [entry], outfile: program, bundle: true, platform: 'node', format: 'esm' })
    const child = spawn(process.execPath, [program], { stdio: ['ignore', 'inherit', 'inherit'] })
    const ended = new Promise((resolve) => child.on('exit', resolve))
    while (!existsSync(join(home, 'ready'))) await new Promise((resolve) => setTimeout(resolve, 10))
    child.kill('SIGINT')
    expect(await ended).toBe(7)
    expect(readFileSync(join(home, 'got'), 'utf8')).toBe('int\n')
  })
})

test('a mark that no process has is nobody', () => {
  expect(membersOf({ text: newMark(), leader: null })).toEqual([])
})
