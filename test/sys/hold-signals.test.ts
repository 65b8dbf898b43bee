import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { bundleProgram } from '../helpers/bundle-program.ts'

describe('a signal that asks to end', () => {
  test('is obeyed right after the task, not in its middle', async () => {
    const { program, remove } = await bundleProgram('test/sys/signal-child.ts')
    const child = spawn(process.execPath, [program])
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      if (said === 'begun\n') child.kill('SIGTERM')
    })
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
    remove()
    expect([said, signal]).toEqual(['begun\nended\n', 'SIGTERM'])
  })
})
