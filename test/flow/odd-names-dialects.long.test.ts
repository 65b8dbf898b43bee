import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

const names = ['p\tq.txt', 'back\\slash.txt', 'd\tir/n\nl.txt', 'e\\f/"q".txt', 'name:stream.txt', 'aux.c']
const all = [...names, 'CON', 'ends. ', 'dot.', 'cafe\u0301.txt', 'zero\u200bwidth.txt', 'NUL.d/x:y']

/** Of `a` and a line feed. */
const BLOB_OF_A = '78981922613b2afb6025042ff6bd878ac1994e85'

interface Way {
  readonly by: string
  /** The edit that makes `b` of `a`. */
  readonly edit: (name: string, root: string) => object
}

const ways: readonly Way[] = [
  { by: 'a replacement', edit: (path) => ({ op: 'replace', path, old: 'a', new: 'b' }) },
  { by: 'a whole file', edit: (path) => ({ op: 'write', path, content: 'b\n' }) },
  { by: 'a line', edit: (path) => ({ op: 'lines', path, from: 1, to: 1, blob: BLOB_OF_A, content: 'b\n' }) },
  {
    by: 'a tool of Claude Code',
    edit: (path, root) => ({
      tool: 'Edit',
      input: { file_path: `${root}/${path}`, old_string: 'a', new_string: 'b' },
    }),
  },
  {
    by: 'a tool of Gemini',
    edit: (path, root) => ({
      tool: 'replace',
      input: { file_path: `${root}/${path}`, old_string: 'a', new_string: 'b' },
    }),
  },
]

/** Only where the name stands on a line of its own, without blanks at its end. */
const lineWays: readonly Way[] = [
  {
    by: 'an envelope',
    edit: (path) => ({
      tool: 'apply_patch',
      input: { input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-a\n+b\n*** End Patch\n` },
    }),
  },
  {
    by: 'blocks',
    edit: (path) => ({
      op: 'blocks',
      text: `${path}\n\`\`\`\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n\`\`\`\n`,
    }),
  },
]

const plainLine = (name: string) => !/[\n\t]| $|\u200b/.test(name)

describe('a name that no other system could hold, in a repository that has it', () => {
  test.each(all)('%j is edited by every dialect, read, captured, and undone', async (name) => {
    using repo = makeRepo({ files: { [name]: 'a\n' } })
    await using galley = await openGalley(repo)
    for (const { by, edit } of [...ways, ...(plainLine(name) ? lineWays : [])]) {
      const { change } = await galley.propose({ batch: batch([edit(name, repo.dir)]) })
      const paths = change.files.map((file) => file.path)
      expect([by, paths]).toEqual([by, [name]])
    }
    const { change } = await galley.apply({
      batch: batch([{ op: 'replace', path: name, old: 'a', new: 'b' }], {
        reads: [{ path: name, blob: repo.git('rev-parse', `HEAD:${name}`) }],
      }),
    })
    expect((await galley.read({ path: name })).content).toBe('b\n')
    await approveUndo(galley, change.id)
    repo.write(name, 'c\n')
    const captured = await galley.capture({ title: 'By hand', paths: [name] })
    await galley.approve({ id: captured.change.id })
    await galley.land({ id: captured.change.id })
    expect(repo.git('show', `HEAD:${name}`)).toBe('c')
    await approveUndo(galley, captured.change.id)
    expect(repo.read(name)).toBe('a\n')
    expect(repo.git('status', '--porcelain')).toBe('')
  })

  test.each(all)('%j is moved to a plain name or deleted, and comes back', async (name) => {
    using repo = makeRepo({ files: { [name]: 'a\n', 'k.txt': 'k\n' } })
    await using galley = await openGalley(repo)
    for (const edit of [
      { op: 'move', path: name, to: 'plain.txt' },
      { op: 'delete', path: name },
    ]) {
      const { change } = await galley.propose({ batch: batch([edit]) })
      await galley.approve({ id: change.id })
      await galley.land({ id: change.id })
      expect(repo.git('ls-files', '-z', '--', `:(literal)${name}`)).toBe('')
      await approveUndo(galley, change.id)
      expect(repo.read(name)).toBe('a\n')
    }
  })

  test.each(all)('%j is not made where the repository lacks it', async (name) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const before = repo.snapshot()
    for (const edit of [
      { op: 'write', path: name, content: 'b\n' },
      { op: 'move', path: 'a.txt', to: name },
      { tool: 'Write', input: { file_path: `${repo.dir}/${name}`, content: 'b\n' } },
    ]) {
      expect((await refusal(() => galley.propose({ batch: batch([edit]) }))).code).toBe('path-invalid')
    }
    expect(repo.snapshot()).toEqual(before)
    repo.write(name, 'b\n')
    const captured = await refusal(() => galley.capture({ title: 'By hand', paths: [name] }))
    expect(captured.code).toBe('path-invalid')
  })

  test('is read and captured by the command line, and shown so that a person sees it', async () => {
    const name = 'zero\u200bwidth:x.txt'
    using repo = makeRepo({ files: { [name]: 'a\n' } })
    expect((await cliHere(repo, ['read', name])).stdout).toContain('a')
    repo.write(name, 'b\n')
    const { stdout, code } = await cliHere(repo, ['capture', name, '-m', 'T'])
    expect(code).toBe(0)
    expect(stdout).not.toContain('\u200b')
  })
})

async function approveUndo(galley: Awaited<ReturnType<typeof openGalley>>, target: string): Promise<void> {
  const { change } = await galley.undo({ target })
  await galley.approve({ id: change.id })
  await galley.land({ id: change.id })
}
