import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verbs } from '../../src/cli/verbs.ts'
import { batch, cliHere, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { projectRoot } from '../helpers/source-tree.ts'

const HOSTILE = 'Say $(touch owned) `touch owned` \u001b[2J: it\'s "x"'
const proposal = (session: string) => ({
  ...batch([{ op: 'replace', path: 'a.txt', old: 'a', new: session.slice(0, 3) }]),
  title: 'Two words',
  agent: { name: 'bot', session },
})

const next = async (repo: TestRepo, ...words: readonly string[]) => {
  const { stdout } = await cliHere(repo, ['completion', 'bash', '--next', '--', ...words])
  return stdout.split('\n').filter((line) => line !== '')
}

describe('what could stand next', () => {
  test.each([
    ['a verb', ['und'], ['undo\tRevert a landed change or any commit']],
    ['a verb behind -C', ['-C', 'x', 'redo'], ['redo\tBring back what was undone']],
    [
      'an option',
      ['undo', '--with'],
      ['--with-later\tTake back later changes that stand in the way too, as one change'],
    ],
    ['a value that is one of several', ['propose', '--dialect', 'co'], ['codex\t']],
    ['a word of the usage line', ['hooks', 'un'], ['uninstall\t']],
    ['a file, which the shell knows', ['propose', ''], []],
    ["another program's words", ['run', '--', 'gi'], []],
    ['nothing behind a verb that is none', ['undone', ''], []],
  ])('%s', async (_, words, expected) => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    expect(await next(repo, ...words)).toEqual(expected)
  })

  test('an id by its state with its title, of the repository that -C names, and a session whose name no shell reads', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({ batch: proposal('s-1') })
    await galley.propose({ batch: proposal('$(touch owned)') })
    expect(await next(repo, 'approve', change.id.slice(0, 4))).toEqual([`${change.id}\tTwo words (staged)`])
    expect(await next(repo, 'undo', '')).toEqual([])
    expect(await next(repo, '-C', '..', '-C', 'repo', 'land', change.id)).toHaveLength(1)
    expect(await next(repo, '-C', '..', 'land', '')).toEqual([])
    expect(await next(repo, 'undo', '--session', '')).toEqual(['s-1\t'])
  })

  test('reaches bash as words: no title is read as shell text', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    await using galley = await openGalley(repo)
    const { change } = await galley.propose({
      batch: { ...proposal('s-1'), title: HOSTILE.replace('\u001b', '') },
    })
    const program = join(projectRoot, 'dist/galley.js')
    const script = `galley() { "${process.execPath}" "${program}" "$@"; }
      eval "$(galley completion bash)"
      COMP_WORDS=(galley approve g); COMP_CWORD=2; _galley; printf '%s\\n' "\${COMPREPLY[@]}"
      COMP_WORDS=(git -C . galley sta); COMP_CWORD=4; _git_galley; printf '%s\\n' "\${COMPREPLY[@]}"`
    const said = execFileSync('bash', ['-c', script], { cwd: repo.dir, env: repo.env, encoding: 'utf8' })
    expect(said).toBe(`${change.id}\nstatus\n`)
    expect(existsSync(join(repo.dir, 'owned'))).toBe(false)
  })
})

test('the manual page has every verb and option, and roff finds no fault in it', () => {
  const page = readFileSync(join(projectRoot, 'dist/git-galley.1'), 'utf8')
  for (const name of Object.keys(verbs)) expect(page).toContain(`.SS galley ${name}`)
  expect(page).toContain('\\fB\\-m\\fR, \\fB\\-\\-mainline\\fR')
  const checked = spawnSync('groff', ['-man', '-ww', '-z', '-Tutf8'], { input: page, encoding: 'utf8' })
  // A machine without groff has no manual pages either.
  expect(checked.error === undefined ? checked.stderr : '').toBe('')
})

test('status has one line for prompts', async () => {
  using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
  const line = async () => (await cliHere(repo, ['status', '--porcelain'])).stdout
  expect(await line()).toBe('staged=0 approved=0 failing=0\n')
  await using galley = await openGalley(repo)
  const { change } = await galley.propose({ batch: proposal('s-1') })
  await galley.propose({ batch: proposal('other') })
  await galley.approve({ id: change.id })
  expect(await line()).toBe('staged=1 approved=1 failing=0\n')
})
