import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Galley, open } from '../../src/flow/galley.ts'
import { batch, refusal } from '../helpers/galley.ts'
import { land, replace } from './undo-world.ts'

/**
 * The conformance cases that are a sentence: lines for a shell that set a repository up, and what is done there. Each is
 * done here with galley. Where galley has no such deed, the line says why, and where the like of it is tested.
 */

interface Row {
  readonly id: string
  readonly batch?: object
  readonly request?: { readonly setup?: readonly string[]; readonly do?: string }
}

/** A repository as a case's own lines of shell make it, in a folder of its own. */
interface Place {
  readonly home: string
  readonly dir: string
  readonly env: Readonly<Record<string, string>>
  readonly sh: (script: string) => string
  readonly read: (path: string) => string
  readonly write: (path: string, content: string) => void
  readonly open: (dir?: string, env?: Readonly<Record<string, string>>) => Promise<Galley & AsyncDisposable>
  readonly [Symbol.dispose]: () => void
}

function place(setup: readonly string[]): Place {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'galley-bug-')))
  const env = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
  }
  writeFileSync(
    env.GIT_CONFIG_GLOBAL,
    '[protocol "file"]\n\tallow = always\n[gc]\n\tauto = 0\n[advice]\n\tdetachedHead = false\n',
  )
  execFileSync('bash', ['-ec', setup.join('\n')], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const dir = join(home, 'repo')
  return {
    home,
    dir,
    env,
    sh: (script) =>
      execFileSync('bash', ['-ec', script], {
        cwd: dir,
        env,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trimEnd(),
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    write: (path, content) => {
      mkdirSync(dirname(join(dir, path)), { recursive: true })
      writeFileSync(join(dir, path), content)
    },
    open: async (at = dir, more = {}) => {
      const galley = await open(at, { env: { ...env, ...more } })
      return { ...galley, [Symbol.asyncDispose]: () => galley.close() }
    },
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  }
}

const write = (path: string, content: string, mode = 'overwrite'): object => ({
  op: 'write',
  path,
  content,
  mode,
})
/** What the branch `feat` of most cases holds. */
const feat = [write('f', 'b\n'), write('new', 'n\n', 'create')]

async function undoAndLand(galley: Galley, target: string): Promise<void> {
  const { change } = await galley.undo({ target, checks: 'later' })
  await galley.approve({ id: change.id, digest: change.digest })
  await galley.land({ id: change.id })
}

async function staged(galley: Galley, edits: readonly object[], more: object = {}): Promise<string> {
  const { change } = await galley.propose({ batch: batch(edits, more), checks: 'later' })
  await galley.approve({ id: change.id, digest: change.digest })
  return change.id
}

const cases: Readonly<Record<string, (at: Place) => Promise<void>>> = {
  'bug-land-updateref-then-commit': async (at) => {
    await using galley = await at.open()
    await land(galley, 'feat', feat)
    at.sh('echo x > other; git add other; git commit -qam mine')
    expect(at.sh('git show HEAD:f')).toBe('b')
  },
  'bug-land-untracked-unrelated': async (at) => {
    await using galley = await at.open()
    await land(galley, 'feat', feat)
    expect(at.sh('git show HEAD:f; git status --porcelain')).toBe('b\n?? "My Paper.pdf"')
  },
  'bug-land-wrong-branch': async (at) => {
    const topic = at.sh('git rev-parse topic')
    await using galley = await at.open()
    await land(galley, 'm3', [replace('f', 'b\n', 'b\nc\n')], { base: 'main', onto: 'main' })
    expect(at.sh('git rev-parse topic')).toBe(topic)
    expect(at.sh('git show main:f; cat f')).toBe('a\nb\nc\na')
  },
  // What nobody else touched is carried to the new tip and lands there; nothing is merged.
  'bug-land-diverged': async (at) => {
    await using galley = await at.open()
    await land(galley, 'feat', feat, { base: 'HEAD~1' })
    expect(at.sh('git log --format=%s | head -3; git show HEAD:g; git show HEAD:f')).toBe(
      'feat\nmeanwhile\nbase\nm\nb',
    )
    expect(at.sh('git rev-list --merges HEAD')).toBe('')
  },
  'bug-land-resurrects': async (at) => {
    await using galley = await at.open()
    const tip = at.sh('git rev-parse main')
    const refused = await refusal(() =>
      land(galley, 'feat', [replace('d/x', 'a\n', 'a\nt\n')], { base: 'HEAD~1' }),
    )
    expect(['conflict', 'branch-moved', 'stale']).toContain(refused.code)
    expect(existsSync(join(at.dir, 'd'))).toBe(false)
    expect(at.sh('git rev-parse main')).toBe(tip)
  },
  // Both land, one on top of the other: neither touches what the other does.
  'bug-land-race': async (at) => {
    await using one = await at.open()
    await using two = await at.open()
    const first = await staged(one, [write('f', 'b\n')])
    const second = await staged(two, [write('g', 'c\n', 'create')])
    const landed = await Promise.allSettled([one.land({ id: first }), two.land({ id: second })])
    const done = landed.filter(({ status }) => status === 'fulfilled').length
    expect(done).toBeGreaterThan(0)
    expect(at.sh('git rev-list --count main')).toBe(`${1 + done}`)
    expect(at.sh('git status --porcelain')).toBe('')
  },
  'bug-wt-remove-detached': async (at) => {
    await using galley = await at.open()
    await land(galley, 'other', [write('other', 'x\n', 'create')])
    await galley.gc()
    expect(at.sh('git -C ../wt log -1 --format=%s; git worktree list | wc -l')).toBe('work\n2')
  },
  'bug-wt-commit-fails-then-force': async (at) => {
    await using galley = await at.open(join(at.home, 'wt'))
    const { change } = await galley.capture()
    await galley.approve({ id: change.id, digest: change.digest })
    await refusal(() => galley.land({ id: change.id }))
    expect(readFileSync(join(at.home, 'wt/f'), 'utf8')).toBe('b\n')
    expect(at.sh('git -C ../wt log --format=%s')).toBe('base')
  },
  'bug-undo-later-touches': async (at) => {
    await using galley = await at.open()
    const head = at.sh('git rev-parse HEAD')
    expect((await refusal(() => galley.undo({ target: 'HEAD~1' }))).code).toBe('overlaps-later')
    expect(at.sh('git rev-parse HEAD; git status --porcelain; cat f; ls .git')).not.toContain('REVERT_HEAD')
    expect(at.sh('git rev-parse HEAD; git status --porcelain; cat f')).toBe(`${head}\nc`)
  },
  'bug-undo-later-elsewhere': async (at) => {
    await using galley = await at.open()
    await undoAndLand(galley, 'HEAD~1')
    expect(at.sh('head -1 f; tail -1 f; git log -1 --format=%s')).toBe('1\nnine\nRevert "agent"')
  },
  'bug-undo-merge': async (at) => {
    await using galley = await at.open()
    const before = at.sh('git rev-parse HEAD; git status --porcelain')
    const refused = await refusal(() => galley.undo({ target: 'HEAD' }))
    expect(refused.code).toBe('needs-mainline')
    expect(at.sh('git rev-parse HEAD; git status --porcelain')).toBe(before)
  },
  'bug-undo-twice': async (at) => {
    await using galley = await at.open()
    const [second = '', first = ''] = at.sh('git log --format=%H').split('\n')
    await undoAndLand(galley, second)
    expect(existsSync(join(at.dir, 'g'))).toBe(false)
    await undoAndLand(galley, first)
    expect(at.sh('cat f; ls; git log -1 --format=%s')).toBe('a\nf\nRevert "agent1"')
  },
  'bug-undo-created-then-edited': async (at) => {
    await using galley = await at.open()
    await refusal(() => undoAndLand(galley, 'HEAD'))
    expect(at.read('new')).toBe('n\nmine\n')
    expect(at.sh('git log -1 --format=%s')).toBe('agent')
  },
  'bug-undo-of-undo': async (at) => {
    await using galley = await at.open()
    const { change } = await galley.undo({ target: 'HEAD', checks: 'later' })
    await galley.approve({ id: change.id, digest: change.digest })
    await galley.land({ id: change.id })
    expect(at.read('f')).toBe('b\n')
    const again = await galley.redo({ target: change.id, checks: 'later' })
    await galley.approve({ id: again.change.id, digest: again.change.digest })
    await galley.land({ id: again.change.id })
    expect(at.read('f')).toBe('c\n')
  },
  'bug-undo-mode': async (at) => {
    await using galley = await at.open()
    await undoAndLand(galley, 'HEAD')
    expect(at.sh('git ls-files -s r.sh | cut -c1-6')).toBe('100644')
    expect(statSync(join(at.dir, 'r.sh')).mode & 0o111).toBe(0)
  },
  'bug-big-orphans': async (at) => {
    await using galley = await at.open()
    const objects = () => at.sh('git count-objects')
    const before = objects()
    for (let i = 0; i < 6; i++) {
      const { change } = await galley.propose({ batch: batch([write('f', `${i}\n`)]), checks: 'later' })
      await galley.reject({ id: change.id, reason: 'no' })
    }
    await galley.gc()
    expect(objects()).toBe(before)
    expect(at.sh('git fsck --unreachable --no-reflogs')).toBe('')
  },
  'bug-big-ignored-staged': async (at) => {
    at.write('f', 'b\n')
    await using galley = await at.open()
    const { change } = await galley.capture()
    expect(change.files.map(({ path }) => path)).toEqual(['f'])
  },
  'bug-lock-index': async (at) => {
    await using galley = await at.open()
    const refused = await refusal(() => land(galley, 'g', [write('g', 'x\n', 'create')]))
    expect(refused.code).toBe('locked')
    expect(existsSync(join(at.dir, '.git/index.lock'))).toBe(true)
    expect(at.sh('cat f; git log --format=%s')).toBe('b\nbase')
  },
  'bug-sub-git-file': async (at) => {
    await using galley = await at.open()
    expect(lstatSync(join(at.dir, 'lib/.git')).isFile()).toBe(true)
    expect((await refusal(() => staged(galley, [write('lib/l', 'x\n')]))).code).toBe('submodule')
  },
  'bug-lfs-failed-checkout-deletes': async (at) => {
    await using galley = await at.open()
    await refusal(() => undoAndLand(galley, 'HEAD'))
    expect(at.read('b.bin')).toBe('2\n')
  },
  'bug-sparse-phantom': async (at) => {
    await using galley = await at.open()
    await land(galley, 'in', [write('in/a', 'x\n')])
    expect(at.sh('git status --porcelain; git ls-files -v | grep ^S; git show HEAD:out/b')).toBe('S out/b\nb')
  },
  // A program that galley starts from inside a hook, here another hook, is told of no repository.
  'bug-hook-env-leak': async (at) => {
    at.sh(
      "printf '#!/bin/sh\\ncd ../other; git rev-parse --absolute-git-dir > ../seen\\n' > .git/hooks/post-merge; chmod +x .git/hooks/post-merge",
    )
    const named = { GIT_DIR: join(at.dir, '.git'), GIT_WORK_TREE: at.dir, GIT_PREFIX: 'x/' }
    await using galley = await at.open(at.dir, named)
    await land(galley, 'b', [write('f', 'b\n')])
    expect(readFileSync(join(at.home, 'seen'), 'utf8').trim()).toBe(join(at.home, 'other/.git'))
  },
  // `pre-commit` is asked in the scratch tree, a hook of the ref at the landing. Neither refusal moves anything or loses the change.
  'bug-hook-fails': async (at) => {
    const before = at.sh('git log --format=%s; git status --porcelain; cat f')
    await using galley = await at.open()
    const id = await staged(galley, [write('f', 'b\n')])
    const byCheck = await refusal(() => galley.land({ id }))
    expect([byCheck.code, byCheck.message]).toEqual(['checks-failed', expect.stringContaining('pre-commit')])
    at.sh(
      "rm .git/hooks/pre-commit; printf '#!/bin/sh\\necho no >&2\\nexit 1\\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction",
    )
    await galley.check({ id })
    const byHook = await refusal(() => galley.land({ id }))
    expect([byHook.code, JSON.stringify(byHook)]).toEqual(['hook-refused', expect.stringContaining('no')])
    at.sh('rm .git/hooks/reference-transaction')
    expect(at.sh('git log --format=%s; git status --porcelain; cat f')).toBe(before)
    await galley.land({ id })
    expect(at.sh('git show HEAD:f; cat f; git status --porcelain')).toBe('b\nb')
  },
  'bug-hook-untracked-restore': async (at) => {
    const before = at.sh('git status --porcelain')
    at.sh(
      "mkdir -p .git/hooks; printf '#!/bin/sh\\nexit 1\\n' > .git/hooks/reference-transaction; chmod +x .git/hooks/reference-transaction",
    )
    await using galley = await at.open()
    await refusal(() => land(galley, 'b', [write('f', 'b\n')]))
    expect(at.sh('rm .git/hooks/reference-transaction; git status --porcelain')).toBe(before)
    expect(at.read('bar.js')).toBe('u\n')
  },
  'bug-hook-index-lock-race': async (at) => {
    await using galley = await at.open()
    const id = await staged(galley, [replace('f', '1\n', 'one\n')])
    at.write('.git/index.lock', '')
    setTimeout(() => rmSync(join(at.dir, '.git/index.lock')), 300)
    await galley.land({ id })
    expect(at.sh('cat f; git show HEAD:f; git diff | grep ^+x')).toBe('one\n2\nx\none\n2\n+x')
  },
  'bug-hook-autocrlf': async (at) => {
    await using galley = await at.open()
    await land(galley, 'other', [write('other', 'x\n', 'create')])
    expect(at.read('f')).toBe('a\r\nB\r\n')
    expect(at.sh('git diff --cached --name-only')).toBe('n')
  },
  'bug-hook-secrets-swept': async (at) => {
    await using galley = await at.open()
    await land(galley, 'other', [write('other', 'x\n', 'create')])
    expect(at.sh('git log --all --name-only --format= | sort -u; git status --porcelain')).toBe(
      'f\nother\n M f\n?? .env',
    )
    expect(
      at.sh('git cat-file --batch-all-objects --batch-check | wc -l; git log --all -S KEY --format=%s'),
    ).not.toContain('KEY')
  },
  'bug-sec-apply-cve-23946': async (at) => {
    await using galley = await at.open()
    const text =
      'diff --git a/lnk b/moved\nsimilarity index 100%\nrename from lnk\nrename to moved\ndiff --git a/moved/x b/moved/x\nnew file mode 100644\n--- /dev/null\n+++ b/moved/x\n@@ -0,0 +1 @@\n+evil\n'
    const refused = await refusal(() => staged(galley, [{ op: 'diff', text, strip: 1 }]))
    expect(refused.code).toBe('symlink')
    expect(existsSync(join(at.dir, '.git/x'))).toBe(false)
    expect(lstatSync(join(at.dir, 'lnk')).isSymbolicLink()).toBe(true)
  },
  'bug-sec-glob-name': async (at) => {
    at.write('ab', 'b\n')
    await using galley = await at.open()
    await land(galley, 'star', [write('a*', 'b\n')])
    expect(at.sh('git show --name-only --format= HEAD; git status --porcelain')).toBe('a*\n M ab')
  },
  'bug-sec-branch-name': async (at) => {
    await using galley = await at.open()
    for (const session of ['--force', 'x;touch pwned', '../x']) {
      await land(
        galley,
        `by ${session}`,
        [replace('f', 'a\n', 'a\n\na\n')].map((edit) => ({
          ...edit,
          old: at.read('f'),
          new: `${at.read('f')}b\n`,
        })),
        {
          agent: { name: 'a', session },
        },
      )
    }
    expect(at.sh('git branch --format="%(refname)"; ls; ls ..')).toBe('refs/heads/main\nf\ngitconfig\nrepo')
  },
  'bug-state-mid-rebase': async (at) => {
    await using galley = await at.open()
    const before = at.sh('git rev-parse HEAD; git ls-files -s')
    expect((await refusal(() => land(galley, 'x', [write('g', 'x\n', 'create')]))).code).toBe('in-progress')
    expect(at.sh('git rev-parse HEAD; git ls-files -s; ls .git | grep rebase')).toBe(
      `${before}\nrebase-merge`,
    )
  },
  'bug-state-unmerged-index': async (at) => {
    await using galley = await at.open()
    const before = at.read('f')
    const refused = await refusal(() => land(galley, 'x', [write('f', 'x\n')]))
    expect(['unmerged', 'in-progress', 'overlaps-uncommitted']).toContain(refused.code)
    expect(at.read('f')).toBe(before)
    expect(at.sh('git ls-files -u | wc -l')).toBe('3')
  },
  'bug-state-shallow': async (at) => {
    await using galley = await at.open(join(at.home, 'sh'))
    expect((await refusal(() => galley.undo({ target: 'HEAD' }))).code).toBe('root-commit')
    expect(at.sh('ls ../sh')).toBe('f')
  },
  'bug-state-intent-to-add': async (at) => {
    await using galley = await at.open()
    await land(galley, 'b', [write('f', 'b\n')])
    expect(at.sh('git status --porcelain; git show --name-only --format= HEAD')).toBe(' A new\nf')
  },
  'bug-state-eol-attribute': async (at) => {
    await using galley = await at.open()
    await land(galley, 'B', [replace('f', 'b\n', 'B\n')])
    expect(at.read('f')).toBe('a\r\nB\r\n')
    expect(at.sh('git cat-file -p HEAD:f | od -An -c | tr -d " "; git show --numstat --format= HEAD')).toBe(
      'a\\nB\\n\n1\t1\tf',
    )
    expect(at.sh('git status --porcelain')).toBe('')
  },
  'bug-eofnl-glue': async (at) => {
    at.sh(
      'git init -q -b main . ; git config user.email t@e.x; git config user.name t; printf "red\\nblue" > f.txt; git add -A; git commit -qm base',
    )
    await using galley = await at.open()
    await land(galley, 'green', [{ op: 'append', path: 'f.txt', content: 'green\n' }])
    expect(at.read('f.txt')).toBe('red\nblue\ngreen\n')
  },
  'bug-race-stale-write': async (at) => {
    at.sh(
      'git init -q -b main . ; git config user.email t@e.x; git config user.name t; echo v1 > f.txt; git add -A; git commit -qm base',
    )
    await using galley = await at.open()
    await galley.read({ path: 'f.txt', session: 'A' })
    at.write('f.txt', 'v1\nother\n')
    const more = { agent: { name: 'a', session: 'A' } }
    expect((await refusal(() => staged(galley, [write('f.txt', 'mine\n')], more))).code).toBe('stale-read')
    expect(at.read('f.txt')).toBe('v1\nother\n')
  },
  // One file never has two names: what goes through a link is refused.
  'bug-race-alias-lock': async (at) => {
    at.sh(
      'git init -q -b main . ; git config user.email t@e.x; git config user.name t; mkdir real; printf "a\\nb\\n" > real/x.txt; ln -s real ln; git add -A; git commit -qm base',
    )
    await using galley = await at.open()
    const edits = [replace('real/x.txt', 'a', 'A'), replace('ln/x.txt', 'b', 'B')]
    expect((await refusal(() => staged(galley, edits))).code).toBe('symlink')
    await land(galley, 'both', [replace('real/x.txt', 'a', 'A'), replace('real/x.txt', 'b', 'B')])
    expect(at.read('real/x.txt')).toBe('A\nB\n')
  },
}

/** Cases that are not played here, each with its reason. */
const notPlayed: Readonly<Record<string, string>> = {
  'bug-land-dirty-worktree-says-merged':
    'galley keeps no worktree for a session and answers no such question; uncommitted work is seen by `capture`',
  'bug-big-home':
    'no command walks or adds the whole tree; 100,000 and 1,000,000 files are measured by the benchmarks',
  'bug-sub-worktree-empty':
    'no worktree is made for a session; landings beside a submodule: test/landing/repository-kinds.test.ts',
  'bug-attr-temp-left':
    'a landing that the system refuses at every point is tested in test/landing/faults.long.test.ts',
}

const rows = readFileSync(join(import.meta.dirname, '../fixtures/conformance/bugs.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row)
  .filter((row) => row.batch === undefined)

describe.concurrent('the conformance cases that are a sentence', () => {
  test('are all played, or have a reason why not', () => {
    expect([...Object.keys(cases), ...Object.keys(notPlayed)].sort()).toEqual(rows.map(({ id }) => id).sort())
  })

  test.each(rows.filter(({ id }) => id in cases))('$id', async ({ id, request }) => {
    const setup = request?.setup ?? ['mkdir repo']
    using at = place(setup)
    chmodSync(at.home, 0o755)
    await cases[id]?.(at)
  })
})
