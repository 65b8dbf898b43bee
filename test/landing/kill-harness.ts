import { deepEqual, ok } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRepository } from '../../src/git/open-repository.ts'
import { type RecoveryReport, recover } from '../../src/landing/recover.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { bundleProgram } from '../helpers/bundle-program.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import type { ChildPlan } from './land-child.ts'
import { leftovers, type NewContent, stageChange } from './stage-change.ts'

/** The program that lands and is killed. */
export const bundleLanding = () => bundleProgram('test/landing/land-child.ts')

/** A repository with a staged change and with work of the user's own all around it. */
export interface Scene {
  readonly repo: TestRepo
  readonly planFile: string
  readonly plan: ChildPlan
  readonly changes: Readonly<Record<string, NewContent>>
}

const USERS = {
  'staged.txt': 'staged base\n',
  'unstaged.txt': 'unstaged base\n',
  'beneath.txt': `${'line\n'.repeat(20)}end\n`,
}
const DIRT = ['M  staged.txt', ' M unstaged.txt', ' A intended.txt', '?? untracked.txt']

/**
 * Sets the scene: the change modifies, creates, deletes, swaps files and directories, and lands beneath
 * unstaged work.
 *
 * @param arrange - Commits what no file is.
 */
export async function setScene(
  files: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, NewContent>>,
  arrange: (repo: TestRepo) => void = () => undefined,
): Promise<Scene> {
  const repo = makeRepo({ files: { ...USERS, ...files } })
  arrange(repo)
  repo.write('staged.txt', 'staged\n')
  repo.git('add', 'staged.txt')
  repo.write('unstaged.txt', 'unstaged\n')
  repo.write('intended.txt', 'intended\n')
  repo.git('add', '-N', 'intended.txt')
  repo.write('untracked.txt', 'untracked\n')
  const request = await stageChange(repo, changes)
  const { ref, before, after, manifest } = request
  const plan: ChildPlan = { env: repo.env, ref, before, after, manifest }
  const planFile = join(repo.home, 'plan.json')
  writeFileSync(planFile, JSON.stringify(plan))
  return { repo, planFile, plan, changes }
}

/** A copy of the scene, to be destroyed. */
export function copyScene(scene: Scene): Scene & Disposable {
  const home = mkdtempSync(join(tmpdir(), 'galley-kill-'))
  const dir = join(home, 'repo')
  cpSync(scene.repo.dir, dir, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  const at = (...args: readonly string[]) => ['-C', dir, ...args]
  const repo: TestRepo = {
    ...scene.repo,
    dir,
    git: (...args) => scene.repo.git(...at(...args)),
    tryGit: (...args) => scene.repo.tryGit(...at(...args)),
    write: (path, content) => writeFileSync(join(dir, path), content),
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    bytes: (path) => readFileSync(join(dir, path)),
  }
  return { ...scene, repo, [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) }
}

/** Starts the landing in a process group of its own. */
export function startLanding(
  program: string,
  scene: Scene,
  killAt: string,
  before: readonly string[] = [],
): ChildProcess {
  const [file = process.execPath, ...args] = [
    ...before,
    process.execPath,
    program,
    scene.repo.dir,
    scene.planFile,
    killAt,
  ]
  return spawn(file, args, { env: scene.repo.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
}

export function ended(
  child: ChildProcess,
): Promise<{ readonly signal: string | null; readonly code: number | null; readonly said: string }> {
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8')
  })
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, said })))
}

/** Kills everything that the landing started. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** What the next galley command does, and that afterwards everything is all old or all new, to the byte. */
export async function recoverAndCheck(scene: Scene): Promise<'old' | 'new'> {
  const { repo, plan } = scene
  const repository = await openRepository(repo.dir, repo.env)
  const galleyDir = join(repo.dir, '.git/galley')
  const report: RecoveryReport = await recover(repository, galleyDir, systemClock)
  deepEqual(
    report.landings.flatMap(({ left, remarks }) => [...left, ...remarks]),
    [],
  )
  deepEqual(await recover(repository, galleyDir, systemClock), { landings: [] })
  const head = repo.git('rev-parse', 'HEAD')
  ok(head === plan.before || head === plan.after, `HEAD is at ${head}`)
  // Work tree, index and branch agree with each other but for the user's own work, which is as it was.
  deepEqual(repo.git('status', '--porcelain').split('\n').sort(), [...DIRT].sort())
  deepEqual(repo.git('show', ':staged.txt'), 'staged')
  deepEqual(leftovers(repo), [])
  deepEqual(repo.tryGit('fsck', '--strict', '--no-dangling'), { code: 0, out: '' })
  return head === plan.after ? 'new' : 'old'
}
