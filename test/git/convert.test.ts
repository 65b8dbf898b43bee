import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pathConversions } from '../../src/git/attributes.ts'
import { cleanBytes, smudgeBlob } from '../../src/git/convert.ts'
import { openRepository } from '../../src/git/open-repository.ts'
import { openStore } from '../../src/store/open-store.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

async function doors(repo: TestRepo) {
  const repository = await openRepository(repo.dir, repo.env)
  return { repository, store: (await openStore(repository)).door }
}

const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le')

interface Row {
  readonly name: string
  readonly attributes: string
  readonly config?: readonly (readonly [string, string])[]
  readonly bytes: Buffer
  /** Committed before, where it matters what git has. */
  readonly base?: Buffer
}

const ROWS: readonly Row[] = [
  { name: 'no attribute', attributes: '', bytes: Buffer.from('a\r\nb\n') },
  { name: 'text=auto, CRLF', attributes: '* text=auto', bytes: Buffer.from('a\r\nb\r\n') },
  { name: 'text=auto, mixed', attributes: '* text=auto', bytes: Buffer.from('a\r\nb\n') },
  { name: 'text=auto, binary', attributes: '* text=auto', bytes: Buffer.from('a\r\n\0b\r\n') },
  {
    name: 'text=auto where git has CRLF',
    attributes: '* text=auto',
    base: Buffer.from('a\r\n'),
    bytes: Buffer.from('a\r\nb\r\n'),
  },
  { name: 'text=auto eol=crlf', attributes: '* text=auto eol=crlf', bytes: Buffer.from('a\r\nb\r\n') },
  { name: 'eol=crlf', attributes: '* eol=crlf', bytes: Buffer.from('a\r\nb\r\n') },
  { name: 'eol=lf, CRLF in the file', attributes: '* eol=lf', bytes: Buffer.from('a\r\nb\r\n') },
  { name: '-text', attributes: '* -text', config: [['core.autocrlf', 'true']], bytes: Buffer.from('a\r\n') },
  {
    name: 'core.autocrlf=true',
    attributes: '',
    config: [['core.autocrlf', 'true']],
    bytes: Buffer.from('a\r\nb\r\n'),
  },
  {
    name: 'core.autocrlf=input',
    attributes: '',
    config: [['core.autocrlf', 'input']],
    bytes: Buffer.from('a\r\nb\r\n'),
  },
  {
    name: 'core.autocrlf=true where git has CRLF',
    attributes: '',
    config: [['core.autocrlf', 'true']],
    base: Buffer.from('x\r\n'),
    bytes: Buffer.from('a\r\n'),
  },
  {
    name: 'core.eol=crlf and text',
    attributes: '* text',
    config: [['core.eol', 'crlf']],
    bytes: Buffer.from('a\r\n'),
  },
  { name: 'the old crlf=input', attributes: '* crlf=input', bytes: Buffer.from('a\r\n') },
  {
    name: 'the old crlf attribute',
    attributes: '* crlf',
    config: [['core.eol', 'crlf']],
    bytes: Buffer.from('a\r\n'),
  },
  { name: 'UTF-16', attributes: '* working-tree-encoding=UTF-16LE-BOM', bytes: utf16('größe\n') },
  {
    name: 'UTF-16 with CRLF',
    attributes: '* text eol=crlf working-tree-encoding=UTF-16LE-BOM',
    bytes: utf16('a\r\nb\r\n'),
  },
  { name: 'ident', attributes: '* ident', bytes: Buffer.from('$Id: 0123 $\nx\n') },
  { name: 'ident and eol=crlf', attributes: '* ident eol=crlf', bytes: Buffer.from('$Id$\r\nx\r\n') },
  {
    name: 'an lfs attribute without git-lfs',
    attributes: '* filter=lfs diff=lfs -text',
    bytes: Buffer.from('a\r\n'),
  },
]

describe('conversions', () => {
  test.each(ROWS)(
    'give the blob and the bytes that git gives: $name',
    async ({ attributes, config, bytes, base }) => {
      await using repo = makeRepo({ files: { x: 'x' } })
      if (base !== undefined) {
        repo.write('dir/file.txt', base)
        repo.commit('base')
      }
      for (const [key, value] of config ?? []) repo.git('config', key, value)
      repo.write('.gitattributes', `${attributes}\n`)
      repo.write('dir/file.txt', bytes)
      const { repository, store } = await doors(repo)
      const baseId = base === undefined ? null : repo.git('rev-parse', 'HEAD:dir/file.txt')

      const blob = await cleanBytes(repository, store, 'dir/file.txt', bytes, { base: baseId })
      // git's own answer comes from the index: only there the CRLF rule of text=auto applies.
      repo.git('-c', 'core.safecrlf=false', 'add', 'dir/file.txt')
      expect(blob).toBe(repo.git('rev-parse', ':dir/file.txt'))

      const smudged = await smudgeBlob(repository, store, 'dir/file.txt', blob)
      rmSync(join(repo.dir, 'dir/file.txt'))
      repo.git('checkout-index', '-f', 'dir/file.txt')
      expect(smudged).toEqual(readFileSync(join(repo.dir, 'dir/file.txt')))
    },
  )

  test('are found by path, from nested attributes files, info/attributes and configuration', async () => {
    await using repo = makeRepo({
      files: {
        '.gitattributes': '*.txt text eol=crlf\n*.bin -text\n',
        'sub/.gitattributes': '*.txt -text\n',
      },
    })
    repo.write('.git/info/attributes', 'special.txt working-tree-encoding=UTF-16\n')
    const { repository } = await doors(repo)
    const found = await pathConversions(repository, [
      'a.txt',
      'sub/a.txt',
      'a.bin',
      'special.txt',
      'new\nline.txt',
    ])
    expect([...found.keys()].sort()).toEqual(['a.txt', 'new\nline.txt', 'special.txt'])
    expect(found.get('special.txt')).toMatchObject({
      encoding: 'UTF-16',
      lineEndings: { kind: 'text', toCrlf: true },
    })
  })

  test('name the filter driver of a path, and never run it', async () => {
    await using repo = makeRepo({ files: { '.gitattributes': '*.big filter=big\n' } })
    repo.write('../filter', `#!/bin/sh\ntouch ${repo.home}/ran\ncat\n`)
    chmodSync(join(repo.home, 'filter'), 0o755)
    repo.git('config', 'filter.big.clean', join(repo.home, 'filter'))
    repo.git('config', 'filter.big.smudge', join(repo.home, 'filter'))
    const { repository, store } = await doors(repo)
    expect((await pathConversions(repository, ['a.big'])).get('a.big')).toEqual({
      kind: 'filtered',
      driver: 'big',
    })
    await expect(cleanBytes(repository, store, 'a.big', Buffer.from('x'))).rejects.toMatchObject({
      code: 'filtered',
    })
    await expect(
      smudgeBlob(repository, store, 'a.big', repo.git('rev-parse', 'HEAD:.gitattributes')),
    ).rejects.toMatchObject({ code: 'filtered' })
    expect(repo.tryGit('ls-files').code).toBe(0)
    expect(() => readFileSync(join(repo.home, 'ran'))).toThrow('ENOENT')
  })

  test('refuse bytes that the encoding of the path cannot hold', async () => {
    await using repo = makeRepo({ files: { '.gitattributes': 'a working-tree-encoding=UTF-16LE-BOM\n' } })
    const { repository, store } = await doors(repo)
    await expect(cleanBytes(repository, store, 'a', Buffer.from('odd'))).rejects.toMatchObject({
      code: 'not-utf8',
    })
  })

  test('leave the repository as it is', async () => {
    await using repo = makeRepo({ files: { '.gitattributes': '* text=auto eol=crlf\n', a: 'a\n' } })
    const { repository, store } = await doors(repo)
    const before = repo.snapshot()
    await cleanBytes(repository, store, 'a', Buffer.from('b\r\n'))
    await smudgeBlob(repository, store, 'a', repo.git('rev-parse', 'HEAD:a'))
    expect(repo.snapshot()).toEqual(before)
  })
})
