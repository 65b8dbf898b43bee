import { describe, expect, test } from 'vitest'
import { type Draft, remarksOf, replace, submit } from './submit.ts'

const remarks = (before: string, edit: Draft): readonly string[] =>
  remarksOf(submit({ 'a.txt': before }, [edit])).map(({ kind, text }) => `${kind}: ${text}`)

describe('the reviewer is told', () => {
  test.each([
    [
      'of a lenient tier',
      'a  \nb\n',
      replace('a\nb', 'x'),
      ['tier: the old text matched only at tier "trailing-space" (line 1)'],
    ],
    [
      'of straight quotes that become curly',
      "x = 'a'\n",
      replace("'a'", '‘a’'),
      ['quote-class: straight quotes became curly ones'],
    ],
    [
      'of curly quotes that become straight',
      'x = “a”\n',
      replace('“a”', '"a"'),
      ['quote-class: curly quotes became straight ones'],
    ],
    [
      'of a character that reorders text',
      'a\n',
      replace('a', 'b\u202ec'),
      ['invisible: the new text brings characters that cannot be seen: U+202E'],
    ],
    [
      'of an invisible character',
      'a\n',
      { op: 'append', content: 'x\u200by\n' } as Draft,
      ['invisible: the new text brings characters that cannot be seen: U+200B'],
    ],
    [
      'of a control character in a new file',
      '',
      { op: 'write', mode: 'overwrite', content: Buffer.from('a\x1b[0m') } as Draft,
      ['invisible: the new text brings characters that cannot be seen: U+001B'],
    ],
  ])('%s', (_name, before, edit, expected) => {
    expect(remarks(before, edit)).toEqual(expected)
  })

  test.each([
    ['CRLF and LF', 'a\r\nb\r\n', replace('a\nb', 'x\ny')],
    ['an invisible character that was there', 'a\u200bb\n', replace('a\u200bb', 'c\u200bd')],
    ['joined emoji', 'a\n', replace('a', '👩‍👩‍👧 ❤️')],
    ['a change among straight quotes', "x = 'a'\n", replace("'a'", '"b"')],
    [
      'a binary write',
      'a',
      { op: 'write', mode: 'overwrite', isText: false, content: Buffer.from([1, 2, 0, 27]) } as Draft,
    ],
  ])('nothing of %s', (_name, before, edit) => {
    expect(remarks(before, edit)).toEqual([])
  })
})
