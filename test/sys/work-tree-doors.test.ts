import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lookAt, standingOf } from '../../src/sys/file-key.ts'
import { inParent, openParent, reachByPathAlone } from '../../src/sys/held-directory.ts'
import { identityOf, livenessOf, ownIdentity } from '../../src/sys/process-identity.ts'
import { repositoryUse } from '../../src/sys/process-list.ts'
import { stageFile, surroundingsOf } from '../../src/sys/stage-file.ts'
import { exchange, moveAway, putInPlace, removeEmptyDirectory } from '../../src/sys/swap-file.ts'

let home = ''
let root = ''
const at = (...parts: string[]) => join(root, ...parts)

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'galley-doors-'))
  root = join(home, 'root')
  mkdirSync(join(root, 'a/b'), { recursive: true })
  mkdirSync(join(home, 'outside'))
  writeFileSync(at('a/b/f'), 'f')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const onLinux = process.platform === 'linux'

describe('the way to a file of the work tree', () => {
  test.each([
    ['a/b/f', () => undefined, 'open'],
    ['a/x/f', () => undefined, 'missing'],
    ['a/b/f/g', () => undefined, 'blocked'],
    ['a/l/f', () => symlinkSync(join(home, 'outside'), at('a/l')), 'symlink'],
    ['a/l/f', () => symlinkSync('b', at('a/l')), 'symlink'],
  ])('to %s', (path, arrange, kind) => {
    arrange()
    const parent = openParent(root, path, true && kind !== 'missing')
    expect(parent.kind).toBe(kind)
    if (parent.kind === 'open') parent.close()
  })

  test('leads to the directory that was walked to, though a link has taken its name', () => {
    if (!onLinux) return
    const parent = openParent(root, 'a/b/new', false)
    if (parent.kind !== 'open') throw new Error(parent.kind)
    renameSync(at('a/b'), at('a/was'))
    symlinkSync(join(home, 'outside'), at('a/b'))
    writeFileSync(parent.file, 'in')
    parent.close()
    expect(readdirSync(join(home, 'outside'))).toEqual([])
    expect(readFileSync(at('a/was/new'), 'utf8')).toBe('in')
  })

  test('by path alone, a parent that is another one afterwards is an error', () => {
    reachByPathAlone(true)
    try {
      expect(
        inParent(root, 'a/b/f', { makeMissing: false }, (parent) => readFileSync(parent.file, 'utf8')),
      ).toBe('f')
      const swap = () => {
        renameSync(at('a/b'), at('a/was'))
        symlinkSync(join(home, 'outside'), at('a/b'))
      }
      expect(() => inParent(root, 'a/b/f', { makeMissing: false }, swap)).toThrow('ESTALE')
    } finally {
      reachByPathAlone(false)
    }
  })

  test('makes missing directories only when asked, and says which', () => {
    const parent = openParent(root, 'n/m/f', true)
    if (parent.kind !== 'open') throw new Error(parent.kind)
    parent.close()
    expect(parent.made).toEqual(['n', 'n/m'])
    expect(openParent(root, 'q/f', false).kind).toBe('missing')
    expect(existsSync(at('q'))).toBe(false)
  })
})

describe('what stands at a path', () => {
  test('is told apart by kind and bytes, and nothing hangs', () => {
    symlinkSync('b', at('a/link'))
    spawnSync('mkfifo', [at('a/fifo')])
    expect(lookAt(root, 'a/b/f', 'sha1')).toMatchObject({
      kind: 'file',
      id: '4d1ae35ba2c8ec712fa2a379db44ad639ca277bd',
    })
    expect(lookAt(root, 'a/b', 'sha1')).toEqual({ kind: 'directory' })
    expect(lookAt(root, 'a/link', 'sha1')).toMatchObject({
      kind: 'symlink',
      id: '63d8dbd40c23542e740659a7168a0ce3138ea748',
    })
    expect(lookAt(root, 'a/link/f', 'sha1')).toEqual({ kind: 'link-above', at: 'a/link' })
    expect(lookAt(root, 'a/b/f/g', 'sha1')).toEqual({ kind: 'file-above', at: 'a/b/f' })
    expect(lookAt(root, 'a/none', 'sha1')).toEqual({ kind: 'absent' })
    expect(lookAt(root, 'no/ne', 'sha1')).toEqual({ kind: 'absent' })
    if (onLinux) expect(lookAt(root, 'a/fifo', 'sha1')).toEqual({ kind: 'special' })
  })

  test('is hashed whole, however large', () => {
    writeFileSync(at('big'), Buffer.alloc(3 * 1024 * 1024 + 5, 7))
    const expected = spawnSync('git', ['hash-object', '--no-filters', at('big')], {
      encoding: 'utf8',
    }).stdout.trim()
    expect(standingOf(at('big'), 'sha1')).toMatchObject({ id: expected })
  })
})

describe('moving files', () => {
  test('a new file never takes the place of another', () => {
    writeFileSync(join(home, 'staged'), 'new')
    expect(putInPlace(root, 'a/b/f', join(home, 'staged'), true)).toEqual({ kind: 'exists' })
    expect(readFileSync(at('a/b/f'), 'utf8')).toBe('f')
    expect(putInPlace(root, 'a/c/g', join(home, 'staged'), true)).toEqual({ kind: 'done' })
    expect(existsSync(join(home, 'staged'))).toBe(false)
  })

  test('an exchange keeps the old inode, for whoever has it open', () => {
    writeFileSync(join(home, 'staged'), 'new')
    const inode = lstatSync(at('a/b/f')).ino
    let wasAbsent = false
    const done = exchange(root, 'a/b/f', join(home, 'staged'), join(home, 'aside'), () => {
      wasAbsent = !existsSync(at('a/b/f'))
    })
    expect(done).toEqual({ kind: 'done' })
    expect(wasAbsent).toBe(true)
    expect(lstatSync(join(home, 'aside')).ino).toBe(inode)
    expect(readFileSync(at('a/b/f'), 'utf8')).toBe('new')
  })

  test('an exchange leaves what appears in between', () => {
    writeFileSync(join(home, 'staged'), 'new')
    const done = exchange(root, 'a/b/f', join(home, 'staged'), join(home, 'aside'), () =>
      writeFileSync(at('a/b/f'), 'theirs'),
    )
    expect(done).toEqual({ kind: 'exists' })
    expect(readFileSync(at('a/b/f'), 'utf8')).toBe('theirs')
  })

  test('only empty directories are removed, and no link is followed', () => {
    symlinkSync(join(home, 'outside'), at('link'))
    mkdirSync(at('empty'))
    expect(removeEmptyDirectory(root, 'a')).toBe(false)
    expect(removeEmptyDirectory(root, 'link')).toBe(false)
    expect(removeEmptyDirectory(root, 'empty')).toBe(true)
    expect(existsSync(join(home, 'outside'))).toBe(true)
    expect(moveAway(root, 'none', join(home, 'aside'))).toEqual({ kind: 'absent' })
  })
})

describe('staging a file', () => {
  const plain = { executable: false, permissions: null, owner: null, group: null }

  test('gives it the permissions that the umask leaves, or exactly those that are named', async () => {
    const before = process.umask(0o027)
    try {
      await stageFile(join(home, 'one'), Buffer.from('x'), plain)
      await stageFile(join(home, 'two'), Buffer.from('x'), { ...plain, executable: true })
      await stageFile(join(home, 'three'), Buffer.from('x'), { ...plain, permissions: 0o604 })
    } finally {
      process.umask(before)
    }
    expect(
      ['one', 'two', 'three'].map((name) => (lstatSync(join(home, name)).mode & 0o7777).toString(8)),
    ).toEqual(['640', '750', '604'])
  })

  test('knows the group that a set-group-id directory gives, and what is missing', () => {
    spawnSync('chmod', ['2755', at('a')])
    const { gid } = lstatSync(at('a'))
    expect(surroundingsOf(root, 'a/n/m/f')).toMatchObject({ group: gid, missing: ['a/n', 'a/n/m'] })
    expect(surroundingsOf(root, 'f')).toMatchObject({ group: null, missing: [] })
    expect(surroundingsOf(root, 'a/b/f/g')).toBeNull()
  })
})

describe('recognising processes', () => {
  test('this one is alive, one that ended is dead, another start of the system is another process', () => {
    expect(livenessOf(ownIdentity())).toBe('alive')
    const { pid } = spawnSync('true')
    expect(livenessOf({ ...ownIdentity(), pid })).toBe('dead')
    if (onLinux) expect(livenessOf({ ...ownIdentity(), startTime: '1' })).toBe('dead')
    expect(livenessOf({ ...ownIdentity(), boot: 'x' })).toBe(onLinux ? 'dead' : 'unknown')
    expect(livenessOf({ ...ownIdentity(), host: 'x', boot: 'x' })).toBe('unknown')
    expect(identityOf(process.pid)).toEqual(ownIdentity())
  })

  test('a git at work in a directory is seen, one elsewhere is not', () => {
    if (!onLinux) return
    const name = readFileSync('/proc/self/stat', 'latin1').replace(/^\d+ \(|\).*$/gs, () => '')
    expect(repositoryUse(name, [process.cwd()])).toBe('seen')
    expect(repositoryUse(name, [join(home, 'nowhere')])).toBe('none')
    expect(repositoryUse('no-such-program', [process.cwd()])).toBe('none')
  })
})

test('a link that is opened as a file is refused by the system itself', () => {
  symlinkSync(at('a/b/f'), at('link'))
  linkSync(at('a/b/f'), at('second'))
  expect(() => closeSync(openSync(at('link'), constants.O_RDONLY | constants.O_NOFOLLOW))).toThrow('ELOOP')
  expect(standingOf(at('second'), 'sha1').kind).toBe('file')
})
