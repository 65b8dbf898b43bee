import { describe, expect, test } from 'vitest'
import { findPlaceholder, isPlaceholder } from '../../src/editing/omission.ts'
import { type Draft, edited, refused, replace, submit } from './submit.ts'

describe('a placeholder is', () => {
  test.each([
    '// ... rest of code unchanged ...',
    '# ... existing code ...',
    '<!-- ... existing markup ... -->',
    '/* ... rest of the file ... */',
    '{/* ... existing components ... */}',
    '-- ... remaining columns ...',
    '// ...',
    '# ...',
    '// …',
    '/* ... */',
    '<!-- ... -->',
    '//...',
    '// ...existing code...',
    '// existing code...',
    '// rest of the code remains the same',
    '// Rest of the function stays the same',
    '# rest of file unchanged',
    '// other methods unchanged',
    '# omitted for brevity',
    '// [rest of the code remains the same]',
    '// ... same as before',
    '// ... keep existing code',
    '... rest of code unchanged ...',
    '[... rest of file unchanged ...]',
    '(rest of code unchanged)',
    'function a() { /* ... existing code ... */ }',
    'foo() // ... rest of the method',
  ])('%s', (line) => {
    expect(isPlaceholder(line)).toBe(true)
  })
})

describe('no placeholder is', () => {
  test.each([
    '...',
    '...args',
    '...rest,',
    '...existing,',
    '... options',
    '[...existing, x]',
    'const a = [...rest]',
    '{ ...state, ...rest }',
    'foo(...existing)',
    'def f(): ...',
    '"""..."""',
    'print("...")',
    'http://... existing',
    '// Use the rest of the buffer',
    '// The rest of the file handles errors',
    '# existing users keep their id',
    '// wait for remaining requests to finish...',
    '// returns the same value as before the call',
    '// unchanged since v1: foo',
    '# remaining time in seconds',
    '# Loading...',
    '#!/bin/sh',
    'let x = 1 // previous value',
    'a; // the rest of the list',
    '',
  ])('%s', (line) => {
    expect(isPlaceholder(line)).toBe(false)
  })

  test('a line that the file has already', () => {
    expect(findPlaceholder('a\n  // ...\n', (line) => line === '// ...')).toBeNull()
    expect(findPlaceholder('a\n  // ...\n', () => false)).toEqual({ line: 2, text: '// ...' })
  })

  test('a very long line', () => {
    expect(findPlaceholder(`// ... rest of ${'x'.repeat(300)}`, () => false)).toBeNull()
  })
})

describe('a placeholder in new text', () => {
  const line = '# ... rest of the code unchanged ...'

  test.each([
    replace('a', `b\n${line}`),
    { op: 'lines', from: 1, to: 1, content: `${line}\n`, expected: 'a\nb\nc' },
    { op: 'insert', after: 0, content: line },
    { op: 'append', content: line },
    { op: 'write', content: Buffer.from(`b\n${line}\n`) },
  ] as Draft[])('is refused: $op', (edit) => {
    expect(refused('a\nb\nc\n', [edit]).code).toBe('omission')
  })

  test('is written where the file has that line, or where the content is no text', () => {
    expect(edited(`Q\n  ${line}\n`, [replace('Q', `b\n${line}`)])).toBe(`b\n${line}\n  ${line}\n`)
    const write: Draft = { op: 'write', content: Buffer.from(line), isText: false }
    expect(submit({}, [write]).kind).toBe('resolved')
  })

  test('of the old text alone is no matter', () => {
    expect(edited(`${line}\n`, [replace(line, 'code')])).toBe('code\n')
  })
})
