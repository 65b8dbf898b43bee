import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collisionFinder, findCollision, foldPath } from '../../src/policy/paths.ts'

describe('two names that a file system may take for one have the same folded form', () => {
  test.each([
    ['README.md', 'readme.MD'],
    ['café', 'cafe\u0301'],
    ['CAFÉ', 'cafe\u0301'],
    ['straße', 'STRASSE'],
    ['STRA\u1e9eE', 'strasse'],
    ['ſet', 'Set'],
    ['\u212aelvin', 'kelvin'],
    ['\u212bngström', 'ångström'],
    ['ΟΔΟΣ', 'οδος'],
    ['οδοσ', 'οδος'],
    ['ﬁle', 'FILE'],
    ['\u01f0', 'J\u030c'],
    ['ǅ', 'ǆ'],
  ])('%j and %j', (a, b) => {
    expect(foldPath(a)).toBe(foldPath(b))
  })

  test.each([
    ['a', 'b'],
    ['a.ts', 'a.tsx'],
    ['é', 'e'],
    ['日', '本'],
  ])('%j and %j do not', (a, b) => {
    expect(foldPath(a)).not.toBe(foldPath(b))
  })

  test('for every single letter: its upper, lower and decomposed forms', () => {
    const strangers: string[] = []
    for (let code = 0; code < 0x20000; code++) {
      if (code >= 0xd800 && code < 0xe000) continue
      const letter = String.fromCodePoint(code)
      const fold = foldPath(letter)
      const forms = [
        letter.toLowerCase(),
        letter.toUpperCase(),
        letter.normalize('NFD'),
        letter.normalize('NFC'),
        fold,
      ]
      if (forms.some((form) => foldPath(form) !== fold)) strangers.push(code.toString(16))
    }
    expect(strangers).toEqual([])
  })

  test('for texts: whatever case and form they are put into', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (text) => {
        const fold = foldPath(text)
        expect(foldPath(fold)).toBe(fold)
        expect(foldPath(text.toUpperCase())).toBe(fold)
        expect(foldPath(text.normalize('NFD'))).toBe(fold)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('a collision', () => {
  test('is the sibling that differs only by case or form', () => {
    expect(findCollision('Readme.md', ['a', 'README.md', 'b'])).toBe('README.md')
    expect(findCollision('cafe\u0301', ['café'])).toBe('café')
  })

  test('is none where no sibling is near', () => {
    expect(findCollision('new.md', ['README.md', 'new.mdx'])).toBeNull()
    expect(findCollision('x', [])).toBeNull()
  })

  test('is none where the very name exists, though another spelling does too', () => {
    expect(findCollision('Makefile', ['makefile', 'Makefile'])).toBeNull()
  })

  test('is found among many names without a pass for each look-up', () => {
    const find = collisionFinder(Array.from({ length: 100_000 }, (_, index) => `File${index}.ts`))
    let found = 0
    for (let index = 0; index < 100_000; index++) if (find(`file${index}.ts`) === `File${index}.ts`) found++
    expect(found).toBe(100_000)
  })
})
