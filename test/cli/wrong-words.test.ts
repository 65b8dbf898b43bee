import { expect, test } from 'vitest'
import { cliHere } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

test.each<[readonly string[], string]>([
  [['approve', '--lst'], 'unknown option --lst; did you mean --last?'],
  [['propose', '--revse', 'x'], 'unknown option --revse; did you mean --revise?'],
  [['approve', '-z', 'x'], 'unknown option -z'],
  [['run', 'agent', '--fast'], 'unknown option --fast; the command stands behind `--`'],
  [['land'], 'which change? Give its id, or --last for the newest'],
  [['show'], 'which change? Give its id, or --last for the newest'],
  [['approve', 'g1', '--last'], 'give an id or --last, not both'],
  [['aprove', 'g1'], 'unknown verb "aprove"; did you mean approve?'],
])(
  '%j is told as a mistake of the command line, also where there is no repository',
  async (words, message) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    for (const cwd of [repo.dir, repo.home]) {
      const { code, stderr } = await cliHere(repo, words, { cwd })
      expect([code, stderr.split('\n')[0]]).toEqual([2, `galley: usage: ${message}`])
    }
  },
)

test('a repository that variables name and nobody finds is told by them', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const { code, stderr } = await cliHere(repo, ['status'], { env: { GIT_DIR: '/nowhere' } })
  expect([code, stderr]).toEqual([
    1,
    'galley: not-a-repository: GIT_DIR is "/nowhere", and git finds no repository by that\nhint: Put right what GIT_DIR says, or unset it: `unset GIT_DIR`.\n',
  ])
})
