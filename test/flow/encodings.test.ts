import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const encoded = (text: string, encoding: string) =>
  execFileSync('sh', ['-c', `iconv -f UTF-8 -t ${encoding}`], { input: text })

const batch = (...edits: readonly object[]) =>
  Buffer.from(JSON.stringify({ version: 1, title: 't', agent: { name: 'bot' }, edits }))

const replace = (path: string, old: string, text: string) => ({ op: 'replace', path, old, new: text })

async function landed(repo: TestRepo, ...edits: readonly object[]) {
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: batch(...edits) })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
  return change
}

const inTree = (repo: TestRepo, path: string) =>
  execFileSync('git', ['cat-file', 'blob', `HEAD:${path}`], { cwd: repo.dir, env: repo.env })

const status = (repo: TestRepo) => repo.git('status', '--porcelain')

describe('a file in a working-tree-encoding is edited as text', () => {
  test.each(['UTF-16LE', 'UTF-16BE', 'UTF-16LE-BOM', 'UTF-32', 'ISO-8859-1', 'SHIFT-JIS'])(
    '%s: edited, made and moved; the tree holds UTF-8',
    async (encoding) => {
      const iconv = encoding === 'UTF-16LE-BOM' ? 'UTF-16LE' : encoding
      const mark = encoding === 'UTF-16LE-BOM' ? '\ufeff' : ''
      const [word, other] = encoding === 'SHIFT-JIS' ? ['日本', '語'] : ['Grüße', 'é']
      using repo = makeRepo({
        files: {
          '.gitattributes': `*.enc text working-tree-encoding=${encoding}\n`,
          'plain.txt': 'plain\n',
          'a.enc': encoded(`${mark}one\n${word}\n`, iconv),
        },
      })
      await landed(
        repo,
        replace('a.enc', 'one', other),
        { op: 'write', path: 'new.enc', content: `${word}\n`, mode: 'create' },
        { op: 'move', path: 'plain.txt', to: 'moved.enc' },
      )
      expect(inTree(repo, 'a.enc').toString()).toBe(`${other}\n${word}\n`)
      expect(repo.bytes('a.enc')).toEqual(encoded(`${mark}${other}\n${word}\n`, iconv))
      expect(inTree(repo, 'new.enc').toString()).toBe(`${word}\n`)
      expect(repo.bytes('moved.enc')).toEqual(encoded(`${mark}plain\n`, iconv))
      repo.git('add', '--renormalize', '.')
      expect(status(repo)).toBe('')
    },
  )

  test('what the encoding cannot hold is refused by its name, and nothing has moved', async () => {
    using repo = makeRepo({ files: { '.gitattributes': '*.l1 working-tree-encoding=ISO-8859-1\n' } })
    repo.write('a.l1', encoded('Grüße\n', 'ISO-8859-1'))
    repo.commit('latin')
    const before = repo.snapshot()
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.propose({ batch: batch(replace('a.l1', 'Grüße', '日本')) }))
    expect([refused.code, refused.message]).toEqual(['not-utf8', expect.stringContaining('ISO-8859-1')])
    expect(repo.snapshot()).toEqual(before)
  })

  test('it is read as text too, with the id of the bytes that stand there', async () => {
    using repo = makeRepo({ files: { '.gitattributes': '*.s working-tree-encoding=UTF-16LE\n' } })
    repo.write('a.s', encoded('Tür\n', 'UTF-16LE'))
    repo.commit('s')
    await using galley = await openGalley(repo)
    const read = await galley.read({ path: 'a.s' })
    const blob = repo.git('hash-object', '--no-filters', 'a.s')
    expect(read).toMatchObject({ content: 'Tür\n', encoding: 'UTF-16LE', blob, totalLines: 1 })
  })
})

describe('a file that is not UTF-8, whose tree holds the very bytes', () => {
  const latin = encoded('naïve\nplain\n', 'ISO-8859-1')

  test('takes text beyond ASCII where its encoding is declared, and keeps all other bytes', async () => {
    using repo = makeRepo({ files: { '.gitattributes': '*.txt encoding=ISO-8859-1\n', 'a.txt': latin } })
    await landed(repo, replace('a.txt', 'naïve', 'café'), { op: 'move', path: 'a.txt', to: 'b.doc' })
    expect(inTree(repo, 'b.doc')).toEqual(encoded('café\nplain\n', 'ISO-8859-1'))
    expect([repo.bytes('b.doc'), status(repo)]).toEqual([inTree(repo, 'b.doc'), ''])
  })

  test('takes ASCII alone where it is not, and the refusal names what it seems to be', async () => {
    using repo = makeRepo({ files: { 'a.txt': latin } })
    await using galley = await openGalley(repo)
    const refused = await refusal(() => galley.propose({ batch: batch(replace('a.txt', 'plain', 'é')) }))
    expect([refused.code, refused.data['encoding']]).toEqual(['not-utf8', 'ISO-8859-1'])
    await landed(repo, replace('a.txt', 'plain', 'simple'))
    expect(repo.bytes('a.txt')).toEqual(encoded('naïve\nsimple\n', 'ISO-8859-1'))
  })
})
