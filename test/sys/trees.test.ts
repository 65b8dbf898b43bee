import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { removeTree } from '../../src/sys/trees.ts'

let home = ''
let tree = ''

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'galley-trees-'))
  tree = join(home, 'tree')
  mkdirSync(tree)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

/** Runs a task as an account that permissions hold for; the superuser passes them all. */
async function asNobody(task: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return task()
  chownSync(home, 65534, 65534)
  chownSync(tree, 65534, 65534)
  process.seteuid?.(65534)
  try {
    await task()
  } finally {
    process.seteuid?.(0)
  }
}

describe('removing a tree', () => {
  test('unlinks links and leaves what they lead to', async () => {
    mkdirSync(join(home, 'outside'))
    writeFileSync(join(home, 'outside/kept.txt'), 'kept')
    mkdirSync(join(tree, 'a'))
    symlinkSync(join(home, 'outside'), join(tree, 'a/out'))
    symlinkSync(join(home, 'outside/kept.txt'), join(tree, 'file'))
    symlinkSync('/nowhere', join(tree, 'dangling'))
    symlinkSync('.', join(tree, 'a/loop'))
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
    expect(readFileSync(join(home, 'outside/kept.txt'), 'utf8')).toBe('kept')
  })

  test('removes a link that stands where the tree should be, not its target', async () => {
    symlinkSync(tree, join(home, 'link'))
    await removeTree(join(home, 'link'))
    expect(lstatSync(tree).isDirectory()).toBe(true)
  })

  test('removes names that are not UTF-8, of files, links and directories', async () => {
    const named = (...names: readonly string[]) =>
      Buffer.concat([Buffer.from(tree), ...names.map((name) => Buffer.from(`/${name}`, 'latin1'))])
    mkdirSync(named('d\xff'))
    writeFileSync(named('f\xfe'), '')
    symlinkSync('/nowhere', named('d\xff', 'l\xe4'))
    mkdirSync(named('d\xff', 'plain'))
    writeFileSync(named('d\xff', 'plain', 'f\xc3'), '')
    chmodSync(named('d\xff', 'plain'), 0o555)
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
  })

  test('removes what lies deeper than a path can say', async () => {
    const start = process.cwd()
    process.chdir(tree)
    try {
      for (let depth = 0; depth < 600; depth++) {
        mkdirSync('a-directory-with-a-long-name')
        process.chdir('a-directory-with-a-long-name')
      }
      writeFileSync('bottom', '')
    } finally {
      process.chdir(start)
    }
    await removeTree(tree)
    expect(existsSync(tree)).toBe(false)
  })

  test('removes directories that their owner may not write, read or enter', async () => {
    await asNobody(async () => {
      for (const [name, mode] of [
        ['read-only', 0o555],
        ['closed', 0o000],
        ['write-only', 0o333],
      ] as const) {
        mkdirSync(join(tree, name, 'inner'), { recursive: true })
        writeFileSync(join(tree, name, 'inner/file'), 'x', { mode: 0o000 })
        chmodSync(join(tree, name, 'inner'), mode)
        chmodSync(join(tree, name), mode)
      }
      await removeTree(tree)
    })
    expect(existsSync(tree)).toBe(false)
  })

  test('takes a tree that is not there for removed', async () => {
    await removeTree(join(home, 'nothing'))
    expect(existsSync(tree)).toBe(true)
  })
})
