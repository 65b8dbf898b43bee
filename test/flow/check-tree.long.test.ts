import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { batch, cli, openGalley, refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

const TREES = ['touched', 'full'] as const

/** A policy under which a rule approves what two checks have let pass; the second looks for what the first one may have hidden. */
const policyOf = (tree: string, first: string) =>
  JSON.stringify({
    checks: [
      { name: 'one', run: first, tree },
      { name: 'no five', run: '! grep -q five docs/a.md', tree },
    ],
    autoApprove: { paths: ['docs/**'], checks: ['one', 'no five'] },
  })

const FILES = { 'docs/a.md': '4\n5\n6\n', 'docs/b.md': 'b\n', 'x.txt': 'x\n' }

async function proposeFive(tree: string, first: string) {
  using repo = makeRepo({ files: { ...FILES, 'docs/a.md': 'before\n' } })
  repo.write('docs/a.md', FILES['docs/a.md'])
  repo.write('.galley.json', policyOf(tree, first))
  repo.commit('policy')
  await using galley = await openGalley(repo)
  const before = repo.snapshot()
  const edits = [{ op: 'replace', path: 'docs/a.md', old: '5', new: 'five' }]
  const { change } = await galley.propose({ batch: batch(edits) })
  expect(repo.snapshot()).toEqual(before)
  if (change.state === 'approved') await galley.land({ id: change.id })
  else expect((await refusal(() => galley.land({ id: change.id }))).code).not.toBe('internal')
  expect(repo.git('show', 'HEAD:docs/a.md')).not.toContain('five')
  return change
}

const HIDE = 'sed -i s/five/5/ docs/a.md'
const COMMIT = 'git -c user.name=a -c user.email=a@b.c commit -q'

describe.each(TREES)(
  'a check in a %s tree does not show the next one other bytes than the commit',
  (tree) => {
    test.each([
      ['checks another commit out', 'git checkout -q HEAD^'],
      ['commits what it wrote', `${HIDE}; ${COMMIT} -am x`],
      ['commits what it wrote on a branch', `git checkout -q -b b; ${HIDE}; ${COMMIT} -am x`],
      ['names a commit in HEAD', 'git rev-parse HEAD^ > "$(git rev-parse --git-dir)/HEAD"'],
    ])('when it %s', async (_, first) => {
      const change = await proposeFive(tree, first)
      expect(change.state).toBe('staged')
      expect(change.checks).toMatchObject([
        { name: 'one', outcome: 'failed', summary: 'one moved HEAD; a check may not commit' },
        { name: 'no five', outcome: 'failed' },
      ])
    })

    test.each([
      ['calls the file unchanged', `git update-index --assume-unchanged docs/a.md; ${HIDE}`, 1],
      ['calls the file not checked out', `git update-index --skip-worktree docs/a.md; ${HIDE}`, 1],
      ['sets its times back', `cp -p docs/a.md ../k; ${HIDE}; touch -r ../k docs/a.md; rm ../k`, 1],
      [
        'has git look at less of a file',
        `git config core.trustctime false; git config core.checkStat minimal; cp -p docs/a.md ../k; sed -i s/five/fiv6/ docs/a.md; touch -r ../k docs/a.md; rm ../k`,
        2,
      ],
      [
        'puts a filter in front of the file',
        `git config filter.e.clean "sed s/5.x/five/"; d="$(git rev-parse --git-common-dir)"; mkdir -p "$d/info"; echo "docs/a.md filter=e" > "$d/info/attributes"; sed -i s/five/5.x/ docs/a.md`,
        2,
      ],
      ['leaves it out of the tree', 'git rm -q --cached docs/a.md; rm docs/a.md', 2],
    ])('when it %s', async (_, first, revision) => {
      const change = await proposeFive(tree, first)
      // What was written is a revision of its own, where it can be one; the file as proposed has not passed.
      const seen = change.checks.find((c) => c.name === 'no five')
      expect([change.revision, seen?.outcome ?? 'failed']).toEqual(
        revision === 1 ? [1, 'failed'] : [2, 'passed'],
      )
    })

    test.each([
      ['its index away', 'rm "$(git rev-parse --git-dir)/index"', 'its index'],
      ['all of its index away', ': > "$(git rev-parse --git-dir)/index"', 'its index'],
      [
        'most of its index away',
        'f="$(git rev-parse --git-dir)/index"; head -c 9 "$f" > ../k; cat ../k > "$f"',
        'its index',
      ],
      [
        'the end of its index away',
        'f="$(git rev-parse --git-dir)/index"; head -c 90 "$f" > ../k; cat ../k > "$f"; rm ../k',
        'its index',
      ],
      ['every entry away', 'git read-tree --empty', 'its index'],
      ['its .git away', 'rm -r .git', 'its .git'],
    ])('when it takes %s', async (_, first, what) => {
      const change = await proposeFive(tree, first)
      expect(change).toMatchObject({ revision: 1, state: 'staged' })
      expect(change.checks).toMatchObject([
        { outcome: 'failed', summary: `one took ${what} away, or broke it` },
        { outcome: 'failed', summary: '' },
      ])
    })

    test('when it takes the whole tree away: it fails, and the next one has nothing to look at', async () => {
      const change = await proposeFive(tree, 'rm -rf "$PWD"')
      expect(change.checks).toMatchObject([
        { outcome: 'failed', summary: 'one took its own tree away' },
        { outcome: 'missing', summary: 'one took its own tree away' },
      ])
    })

    test('and may look at another commit, stash, or name a branch, if it comes back', async () => {
      const first =
        'git checkout -q HEAD^ && git checkout -q - && git status >/dev/null && git checkout -q -b mine'
      const change = await proposeFive(tree, first)
      expect(change.checks).toMatchObject([{ outcome: 'passed' }, { outcome: 'failed' }])
    })
  },
)

describe.each(TREES)('a check that is cut off in a %s tree', (tree) => {
  test.each([
    ['calls the file unchanged', 'git update-index --assume-unchanged docs/a.md'],
    ['took the index away', 'rm "$(git rev-parse --git-dir)/index"'],
  ])('when it %s shows the next round nothing of that', async (_, mark) => {
    using repo = makeRepo({ files: FILES })
    const flag = join(repo.home, 'flag')
    const first = `[ -e '${flag}' ] || { touch '${flag}'; ${mark}; ${HIDE}; kill -9 $PPID; sleep 5; }`
    repo.write('.galley.json', policyOf(tree, first))
    repo.commit('policy')
    const edits = [{ op: 'replace', path: 'docs/a.md', old: '5', new: 'five' }]
    const killed = cli(repo, ['propose'], { input: JSON.stringify(batch(edits)) })
    expect(killed.code).toBeNull()
    const checked = cli(repo, ['check', '--last', '--json']).json
    expect(checked.error.data.change).toMatchObject({
      revision: 1,
      checks: [{ outcome: 'passed' }, { name: 'no five', outcome: 'failed' }],
    })
  })
})
