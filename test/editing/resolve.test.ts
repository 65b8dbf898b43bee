import { describe, expect, test } from 'vitest'
import { codes, type Draft, failuresOf, fileOf, filesAfter, remarksOf, replace, submit } from './submit.ts'

const write = (
  path: string,
  content: string,
  more: Partial<Extract<Draft, { op: 'write' }>> = {},
): Draft => ({
  op: 'write',
  path,
  content: Buffer.from(content),
  ...more,
})
const move = (path: string, to: string, step = 0): Draft => ({ op: 'move', path, to, step })
const remove = (path: string): Draft => ({ op: 'delete', path })
const chmod = (path: string, executable: boolean): Draft => ({ op: 'chmod', path, executable })

describe('write', () => {
  test.each(['create', 'overwrite', 'either'] as const)(
    'with mode %s asks for what the mode says',
    (mode) => {
      const absent = submit({}, [write('n.txt', 'x\n', { mode })])
      const present = submit({ 'n.txt': 'old\n' }, [write('n.txt', 'x\n', { mode })])
      if (mode === 'overwrite') expect(codes(absent)).toEqual(['0 not-found'])
      else expect(filesAfter(absent)).toEqual({ 'n.txt': 'x\n' })
      if (mode === 'create') expect(codes(present)).toEqual(['0 exists'])
      else expect(filesAfter(present)).toEqual({ 'n.txt': 'x\n' })
    },
  )

  test('takes its bytes as they are', () => {
    const after = filesAfter(submit({ 'a.txt': '\ufeffa\r\n' }, [write('a.txt', 'b\nc\r\n')]))
    expect(after).toEqual({ 'a.txt': 'b\nc\r\n' })
  })

  test('says which of the two it did where the request does not say', () => {
    const remarks = remarksOf(submit({ 'a.txt': 'a\n' }, [write('a.txt', 'b\n'), write('n.txt', 'c\n')]))
    expect(remarks.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'created-or-overwrote: overwrote the file',
      'created-or-overwrote: created the file',
    ])
  })

  test('keeps the executable bit unless it is named', () => {
    const bits = (executable?: boolean) => {
      const more = executable === undefined ? {} : { executable }
      const resolution = submit({ 'r.sh': fileOf('x\n', true) }, [write('r.sh', 'y\n', more)])
      return (
        resolution.kind === 'resolved' &&
        resolution.files.map(({ after }) => after.kind === 'file' && after.executable)
      )
    }
    expect(bits()).toEqual([true])
    expect(bits(false)).toEqual([false])
  })

  describe('into a binary file or an LFS pointer', () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\n'
    const before = { 'a.bin': 'a\0', 'b.bin': pointer }

    test('takes any bytes', () => {
      const edits = [write('a.bin', '\0\0'), write('b.bin', 'x')].map((edit) => ({ ...edit, isText: false }))
      expect(filesAfter(submit(before, edits))).toEqual({ 'a.bin': '\0\0', 'b.bin': 'x' })
    })

    test('takes no text', () => {
      const resolution = submit(before, [write('a.bin', 'x'), write('b.bin', 'x')])
      expect(resolution).toMatchObject({
        kind: 'refused',
        failures: [{ code: 'binary' }, { code: 'lfs-pointer' }],
      })
    })
  })
})

test('a message calls an edit what its requester calls it', () => {
  const hunk = { anchors: [], oldStart: 1, lines: [], endOfFile: false, sourceLine: 1 }
  const resolution = submit({}, [{ op: 'hunks', flavour: 'unified', hunks: [hunk] }])
  expect(resolution).toMatchObject({ failures: [{ message: 'patch of a.txt: the file does not exist' }] })
})

describe('delete, move, copy and chmod', () => {
  test('delete takes the file away', () => {
    expect(filesAfter(submit({ 'a.txt': 'a\n' }, [remove('a.txt')]))).toEqual({ 'a.txt': null })
  })

  test('delete refuses another content than the one it names', () => {
    const edit: Draft = { op: 'delete', expectedContent: Buffer.from('one\n') }
    expect(codes(submit({ 'a.txt': 'one\nuser\n' }, [edit]))).toEqual(['0 no-match'])
    expect(filesAfter(submit({ 'a.txt': 'one\n' }, [edit]))).toEqual({ 'a.txt': null })
  })

  test('move carries bytes and mode, and names where they came from', () => {
    const resolution = submit({ 'a.sh': fileOf('x\n', true) }, [move('a.sh', 'bin/b.sh')])
    expect(resolution).toMatchObject({
      kind: 'resolved',
      files: [
        { path: 'a.sh', after: { kind: 'absent' } },
        {
          path: 'bin/b.sh',
          before: { kind: 'absent' },
          after: { kind: 'file', executable: true },
          renamedFrom: 'a.sh',
        },
      ],
    })
  })

  test('move takes the edits of its step along', () => {
    const after = filesAfter(
      submit({ 'a.txt': 'one\n' }, [replace('one', 'two'), move('a.txt', 'b.txt'), chmod('a.txt', true)]),
    )
    expect(after).toEqual({ 'a.txt': null, 'b.txt': 'two\n' })
  })

  test('two moves swap two files', () => {
    const resolution = submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, [
      move('a.txt', 'b.txt'),
      move('b.txt', 'a.txt'),
    ])
    expect(filesAfter(resolution)).toEqual({ 'a.txt': 'b\n', 'b.txt': 'a\n' })
    expect(resolution.kind === 'resolved' && resolution.files.map((file) => file.renamedFrom)).toEqual([
      'b.txt',
      'a.txt',
    ])
  })

  test('moves rotate three files', () => {
    const files = { a: 'A', b: 'B', c: 'C' }
    expect(filesAfter(submit(files, [move('a', 'b'), move('b', 'c'), move('c', 'a')]))).toEqual({
      a: 'C',
      b: 'A',
      c: 'B',
    })
  })

  test.each([
    ['exists', [move('a.txt', 'b.txt')]],
    ['exists', [{ op: 'copy', to: 'b.txt' } as Draft]],
    ['overlap', [move('a.txt', 'n.txt'), move('b.txt', 'n.txt')]],
    ['overlap', [move('a.txt', 'n.txt'), write('n.txt', 'x')]],
    ['not-found', [move('nope.txt', 'n.txt')]],
    ['not-found', [chmod('nope.txt', true)]],
    ['not-found', [remove('nope.txt')]],
    ['not-found', [replace('a', 'b', { path: 'nope.txt' })]],
  ])('refuse with %s', (code, edits) => {
    const failures = failuresOf(submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, edits))
    expect(failures.map((failure) => failure.code)).toEqual([code])
  })

  test('a move may fill the name that a deletion frees', () => {
    const after = filesAfter(
      submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, [move('a.txt', 'b.txt'), remove('b.txt')]),
    )
    expect(after).toEqual({ 'a.txt': null, 'b.txt': 'a\n' })
  })

  test('copy takes the source as it was before the step', () => {
    const edits: Draft[] = [
      { op: 'copy', to: 'n.txt' },
      replace('a', 'A'),
      replace('a', 'c', { path: 'n.txt', step: 1 }),
    ]
    const resolution = submit({ 'a.txt': 'a\n' }, edits)
    expect(filesAfter(resolution)).toEqual({ 'a.txt': 'A\n', 'n.txt': 'c\n' })
    expect(resolution.kind === 'resolved' && resolution.files.some((file) => 'renamedFrom' in file)).toBe(
      false,
    )
  })

  test('chmod goes with a write and a text edit, and keeps the bytes', () => {
    const resolution = submit({ 'a.txt': 'a\n' }, [
      replace('a', 'b'),
      chmod('a.txt', true),
      write('n.sh', 'x'),
      chmod('n.sh', true),
    ])
    expect(resolution.kind === 'resolved' && resolution.files.map(({ after }) => after)).toMatchObject([
      { executable: true },
      { executable: true },
    ])
  })
})

describe('edits of one path in one step', () => {
  test.each([
    ['write and text', [write('a.txt', 'x'), replace('a', 'b')]],
    ['delete and text', [remove('a.txt'), replace('a', 'b')]],
    ['delete and chmod', [remove('a.txt'), chmod('a.txt', true)]],
    ['delete and move', [remove('a.txt'), move('a.txt', 'n.txt')]],
    ['two writes', [write('a.txt', 'x'), write('a.txt', 'y')]],
    ['two moves', [move('a.txt', 'n.txt'), move('a.txt', 'o.txt')]],
    ['write and move', [write('a.txt', 'x'), move('a.txt', 'n.txt')]],
    ['contrary modes', [chmod('a.txt', true), chmod('a.txt', false)]],
  ])('%s clash', (_name, edits) => {
    expect(codes(submit({ 'a.txt': 'a\n' }, edits))).toEqual(['1 overlap'])
  })

  test('with overlapping matches clash', () => {
    const failures = failuresOf(submit({ 'a.txt': 'abcdef\n' }, [replace('abcd', '1'), replace('cdef', '2')]))
    expect(failures).toMatchObject([{ code: 'overlap', item: 1, data: { items: [0, 1] } }])
  })

  test('with matches that touch do not', () => {
    expect(filesAfter(submit({ 'a.txt': 'abcdef\n' }, [replace('def', '2'), replace('abc', '1')]))).toEqual({
      'a.txt': '12\n',
    })
  })

  test('claim the lines that they only repeat', () => {
    const edits = [replace('a\nb\n', 'A\nb\n'), replace('b\nc\n', 'b\nC\n')]
    expect(codes(submit({ 'a.txt': 'a\nb\nc\n' }, edits))).toEqual(['1 overlap'])
  })
})

describe('steps', () => {
  test('see the results of the steps before, in ascending order', () => {
    const edits = [replace('2', '3', { step: 7 }), replace('1', '2', { step: 3 })]
    expect(filesAfter(submit({ 'a.txt': '1\n' }, edits))).toEqual({ 'a.txt': '3\n' })
  })

  test('of one batch can make, move, edit and delete a file', () => {
    const edits = [
      write('n.txt', 'one\n', { step: 0 }),
      move('n.txt', 'm.txt', 1),
      replace('one', 'two', { path: 'm.txt', step: 2 }),
      move('a.txt', 'n.txt', 2),
    ]
    const resolution = submit({ 'a.txt': 'a\n' }, edits)
    expect(filesAfter(resolution)).toEqual({ 'a.txt': null, 'm.txt': 'two\n', 'n.txt': 'a\n' })
    expect(resolution.kind === 'resolved' && resolution.files.map((file) => file.renamedFrom)).toEqual([
      undefined,
      undefined,
      'a.txt',
    ])
  })

  test('know the old name of a moved file no more', () => {
    const edits = [move('a.txt', 'b.txt'), replace('a', 'b', { step: 1 })]
    expect(codes(submit({ 'a.txt': 'a\n' }, edits))).toEqual(['1 not-found'])
  })

  test('leave a path unjudged that has failed before, and report all else', () => {
    const edits = [
      replace('nope', 'x'),
      replace('zzz', 'y', { path: 'b.txt' }),
      replace('also not there', 'z', { step: 1 }),
      replace('c', 'd', { path: 'c.txt', step: 1 }),
      replace('gone', 'dd', { path: 'c.txt', step: 2 }),
    ]
    const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' }
    expect(codes(submit(files, edits))).toEqual(['0 no-match', '1 no-match', '4 no-match'])
  })

  test('leave the target of a failed move unjudged', () => {
    const edits = [
      replace('nope', 'x'),
      move('a.txt', 'b.txt'),
      replace('a', 'c', { path: 'b.txt', step: 1 }),
    ]
    expect(codes(submit({ 'a.txt': 'a\n' }, edits))).toEqual(['0 no-match'])
  })
})

describe('a batch', () => {
  test('lists every failing edit', () => {
    const edits = [
      replace('x', 'y'),
      replace('a', 'b'),
      replace('q', 'r', { path: 'b.txt' }),
      remove('nope.txt'),
    ]
    expect(codes(submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, edits))).toEqual([
      '0 no-match',
      '2 no-match',
      '3 not-found',
    ])
  })

  test('that changes nothing is refused edit by edit', () => {
    const edits = [write('a.txt', 'a\n'), chmod('b.txt', false)]
    expect(codes(submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, edits))).toEqual(['0 no-change', '1 no-change'])
  })

  test('that undoes itself is refused too', () => {
    const edits = [replace('a', 'b'), replace('b', 'a', { step: 1 })]
    expect(codes(submit({ 'a.txt': 'a\n' }, edits))).toEqual(['0 no-change', '1 no-change'])
  })

  test('leaves out a file that ends as it began', () => {
    const after = filesAfter(
      submit({ 'a.txt': 'a\n', 'b.txt': 'b\n' }, [write('a.txt', 'a\n'), write('b.txt', 'c\n')]),
    )
    expect(after).toEqual({ 'b.txt': 'c\n' })
  })

  test('reports the most lenient tier of a file', () => {
    const edits = [replace('a', 'A'), replace('b\nc\n', 'B\nC\n')]
    expect(submit({ 'a.txt': 'a\r\nb\r\nc\r\n' }, edits)).toMatchObject({ files: [{ tier: 'eol' }] })
  })

  test('keeps names that are keys of every object apart', () => {
    const files = { constructor: 'a\n', toString: 'b\n' }
    const edits = [replace('a', 'A', { path: 'constructor' }), write('hasOwnProperty', 'x')]
    expect(filesAfter(submit(files, edits))).toEqual({ constructor: 'A\n', hasOwnProperty: 'x' })
  })
})
