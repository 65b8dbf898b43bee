import { expect, test } from 'vitest'
import { codeOfWords } from '../../src/git/git-words.ts'

test.each([
  ['error: unable to create temporary file: No space left on device', 'io-error'],
  ['fatal: unable to write new index file', 'io-error'],
  ["fatal: Unable to create '/r/.git/index.lock': File exists.", 'locked'],
  // The lock is not what this one failed by.
  [
    "error: Unable to create '/r/a.lock': File exists.\nfatal: cannot open '/r/b': Permission denied",
    'io-error',
  ],
  ['fatal: bad config line 3 in file /r/.git/config', 'unsupported-repository'],
  ['fatal: unable to read tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904', 'stale'],
  ['fatal: index file corrupt', 'git-failed'],
  ['fatal: unable to write file: File too large', 'io-error'],
  ['ended by SIGXFSZ', 'io-error'],
  ["error: unknown option `frobnicate'\nusage: git status [<options>]", 'internal'],
  ['', 'git-failed'],
])('%s has the code %s', (said, code) => {
  expect(codeOfWords(said, 128)).toBe(code)
})
