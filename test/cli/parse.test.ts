import { expect, test } from 'vitest'
import { parseVerb } from '../../src/cli/parse.ts'
import { purge } from '../../src/cli/verbs/purge.ts'
import { push } from '../../src/cli/verbs/push.ts'
import { run } from '../../src/cli/verbs/run.ts'

const parse = (...words: string[]) => parseVerb('purge', purge, words)

test.each(['--dry-run=1', '--dry-run=yes', '--dry-run=', '--force=no', '--json=2'])(
  'a switch takes no value: %s is refused, and not read as its opposite',
  async (word) => {
    await expect(parse(word)).rejects.toMatchObject({ code: 'usage' })
  },
)

test.each([
  [['--dry-run'], true],
  [['--dry-run=true'], true],
  [['--dry-run=false'], false],
] as const)('%j is what it says', async (words, expected) => {
  expect(await parse(...words)).toMatchObject({ kind: 'args', args: { 'dry-run': expected } })
})

test('words behind `--` belong to the command that runs', async () => {
  expect(await parseVerb('run', run, ['--', 'tool', '--json=2'])).toMatchObject({ kind: 'args' })
})

test.each([['--with-branch'], ['--with-branch', '--json']])(
  'an option without its value is refused, and not read as empty text: %s %s',
  async (...words) => {
    await expect(parseVerb('push', push, words)).rejects.toMatchObject({
      code: 'usage',
      message: '--with-branch needs a value',
    })
  },
)

test('an empty value that is written is a value', async () => {
  const parsed = await parseVerb('push', push, ['--with-branch', ''])
  expect(parsed).toMatchObject({ kind: 'args', args: { 'with-branch': '' } })
})
