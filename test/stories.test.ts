import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { projectRoot } from './helpers/source-tree.ts'
import { firstOfEachVerb, parseStory, runStory } from './helpers/story.ts'

const folder = join(projectRoot, 'test/stories')
const stories = readdirSync(folder)
  .filter((name) => name.endsWith('.txt'))
  .map((name) => ({ name, story: parseStory(readFileSync(join(folder, name), 'utf8')) }))

const built = firstOfEachVerb(stories.map(({ story }) => story))

describe('the stories', () => {
  beforeAll(() => {
    // A command that could not be built, or an old one, would tell another story.
    expect(inject('buildFailure')).toBeNull()
  })

  test.concurrent.each(stories.map(({ name, story }) => [name, story.title, story] as const))(
    '%s: %s',
    (_name, _title, story) => runStory(story, built),
  )
})

describe('the teller of stories', () => {
  const run = async (text: string) => runStory(parseStory(text))

  test('takes what is as told', async () => {
    await run(
      'Title.\n\n-- a --\nx y\n\n$ cat a\n> x *\n$ git log --format=%s\n> first\n$ echo one two one\n> <a> <b> <a>\n$ echo <b>\n> two\n$ true\n',
    )
  })

  test.each([
    ['a command that fails', '$ false'],
    ['a command that does not fail', '$ true\n! 1'],
    ['other output', '$ echo a\n> b'],
    ['more output', '$ printf "a\\nb\\n"\n> a'],
    ['less output', '$ echo a\n> a\n> b'],
    ['output where there should be none', '$ echo a\n>'],
    ['a name that stands for two things', '$ echo a b\n> <x> <x>'],
    ['another refusal', '$ echo "galley: no-match: x" >&2; exit 1\n! not-found'],
  ])('fails at %s', async (_, steps) => {
    await expect(run(`Title.\n\n${steps}\n`)).rejects.toThrow(/^line 3/)
  })

  test('takes no line that it does not understand', () => {
    expect(() => parseStory('Title.\n\n% galley\n')).toThrow('line 3')
  })
})
