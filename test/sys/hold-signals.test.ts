import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { bundleProgram } from '../helpers/bundle-program.ts'

describe('a signal that asks to end', () => {
  test.each([
    ['right after the task, not in its middle', [], 'begun\nended\n'],
    ['when the task lets it go', ['let-go'], 'begun\n'],
  ])('is obeyed %s', async (_, args, said) => {
    const { program, remove } = await bundleProgram('test/sys/signal-child.ts')
    const child = spawn(process.execPath, [program, ...args])
    let heard = ''
    child.stdout.on('data', (chunk: Buffer) => {
      heard += chunk.toString('utf8')
      if (heard === 'begun\n') child.kill('SIGTERM')
    })
    const signal = await new Promise((resolve) => child.on('close', (_, by) => resolve(by)))
    remove()
    expect([heard, signal]).toEqual([said, 'SIGTERM'])
  })
})
