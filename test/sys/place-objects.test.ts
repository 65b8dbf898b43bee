import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { placeObjects } from '../../src/sys/place-objects.ts'

let from = ''
let to = ''
beforeEach(() => {
  const home = mkdtempSync(join(tmpdir(), 'galley-objects-'))
  from = join(home, 'from')
  to = join(home, 'to')
  for (const directory of [from, to]) mkdirSync(directory)
  for (const name of ['00', 'ff', 'pack', 'info']) mkdirSync(join(from, name))
  for (const name of ['00/a', 'ff/b', 'pack/p.idx', 'pack/p.pack', 'pack/tmp_x'])
    writeFileSync(join(from, name), name)
})
afterEach(() => rmSync(join(from, '..'), { recursive: true }))

const names = (directory: string) => readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()

describe('giving objects their places in a store', () => {
  test('objects and packs alone, into directories like those that git made', () => {
    rmSync(join(from, '00'), { recursive: true })
    mkdirSync(join(from, '00'), { mode: 0o770 })
    writeFileSync(join(from, '00/a'), 'a')
    placeObjects(from, to)
    expect(names(to)).toEqual(['00', '00/a', 'ff', 'ff/b', 'pack', 'pack/p.idx', 'pack/p.pack'])
    expect(statSync(join(to, '00')).mode).toBe(statSync(join(from, '00')).mode)
    placeObjects(from, to)
  })

  test('changes nothing that is there already', () => {
    mkdirSync(join(to, '00'))
    writeFileSync(join(to, '00/a'), 'theirs')
    const before = statSync(join(to, '00/a'))
    placeObjects(from, to)
    expect(readFileSync(join(to, '00/a'), 'utf8')).toBe('theirs')
    expect(statSync(join(to, '00/a')).ino).toBe(before.ino)
  })

  test('goes on where it was cut off, and where a collection has dropped one of them since', () => {
    mkdirSync(join(to, '00'))
    linkSync(join(from, '00/a'), join(to, '00/a'))
    placeObjects(from, to)
    rmSync(join(to, 'ff/b'))
    placeObjects(from, to)
    expect(names(to)).toEqual(['00', '00/a', 'ff', 'ff/b', 'pack', 'pack/p.idx', 'pack/p.pack'])
  })

  test('leaves nothing where a directory cannot be made', () => {
    writeFileSync(join(to, 'ff'), 'in the way')
    expect(() => placeObjects(from, to)).toThrow('EEXIST')
    expect(names(to)).toEqual(['ff'])
    expect(names(from)).toContain('00/a')
  })
})
