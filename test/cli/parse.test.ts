import { expect, test } from 'vitest'
import { parseVerb } from '../../src/cli/parse.ts'
import { purge } from '../../src/cli/verbs/purge.ts'
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
