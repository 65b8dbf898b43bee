/**
 * Races landings against editors, against a user who keeps committing, and against readers, and counts what
 * is lost, mixed, torn or absent:
 *
 *     npm run bench -- races [saves, default 1200] [landings against commits, default 200]
 *       [landings against readers, default 100] [longest pause between two commits in ms, default 200]
 */
import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { open } from '../../src/flow/galley.ts'
import { landCommit } from '../../src/landing/land-commit.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { stageChange } from '../landing/stage-change.ts'

const [saves = 1200, commits = 200, reads = 100, pauseMs = 200] = process.argv.slice(2).map(Number)

const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 30 }, (_, i) => `${changed[i + 1] ?? `line ${i + 1}`}\n`).join('')

/** Reads the file, waits, and saves it with one line changed, in one of three ways. */
const EDITOR = `
const { parentPort } = require('node:worker_threads')
const fs = require('node:fs')
const wait = (ms) => { const end = performance.now() + ms; while (performance.now() < end); }
parentPort.on('message', ({ file, style, delayMs, token }) => {
  const text = fs.readFileSync(file, 'utf8').replace(/^line 25$/m, token)
  const open = style === 'late' ? fs.openSync(file, 'r+') : null
  wait(delayMs)
  if (style === 'late') { fs.writeSync(open, text, 0); fs.closeSync(open) }
  if (style === 'in-place') fs.writeFileSync(file, text)
  if (style === 'rename') { fs.writeFileSync(file + '.tmp', text); fs.renameSync(file + '.tmp', file) }
  parentPort.postMessage('saved')
})
`

const READER = `
const { workerData, parentPort } = require('node:worker_threads')
const fs = require('node:fs')
const { file, flag, size, mode } = workerData
let reads = 0, absent = 0, torn = 0, otherMode = 0, longestMs = 0, since = null
while (Atomics.load(flag, 0) === 0) {
  reads++
  try {
    const held = fs.openSync(file, 'r')
    const bytes = fs.readFileSync(held)
    if ((fs.fstatSync(held).mode & 0o7777) !== mode) otherMode++
    fs.closeSync(held)
    if (bytes.length !== size || bytes[0] !== bytes[size - 1]) torn++
    since = null
  } catch { absent++; since ??= performance.now(); longestMs = Math.max(longestMs, performance.now() - since) }
}
parentPort.postMessage({ reads, absent, torn, otherMode, longestMs })
`

function keptAside(repo: TestRepo, token: string): boolean {
  const root = join(repo.dir, '.git/galley/done')
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.includes('/old/'),
  )
  return names.some(
    (name) => statSync(join(root, name)).isFile() && readFileSync(join(root, name), 'utf8').includes(token),
  )
}

async function raceEditors(): Promise<void> {
  const tally = { saves: 0, landed: 0, refused: 0, inFile: 0, aside: 0, lost: 0 }
  const editor = new Worker(EDITOR, { eval: true })
  const styles = ['in-place', 'late', 'rename']
  let spanMs = 120
  for (let n = 0; n < saves; n++) {
    const repo = n % 100 === 0 ? freshRepo() : current
    current = repo
    repo.write('a.txt', `${repo.git('show', 'HEAD:a.txt')}\n`)
    const request = await stageChange(repo, { 'a.txt': lines({ 2: `AGENT ${n}` }) })
    const token = `MINE-${n}.`
    const saved = new Promise((resolve) => editor.once('message', resolve))
    editor.postMessage({
      file: join(repo.dir, 'a.txt'),
      style: styles[n % 3],
      delayMs: Math.random() * spanMs,
      token,
    })
    const begun = performance.now()
    const landed = await landCommit(request).then(
      () => true,
      () => false,
    )
    spanMs = 0.9 * spanMs + 0.1 * (performance.now() - begun)
    await saved
    tally.saves++
    landed ? tally.landed++ : tally.refused++
    if (repo.read('a.txt').includes(token)) tally.inFile++
    else if (keptAside(repo, token)) tally.aside++
    else tally.lost++
  }
  await editor.terminate()
  process.stdout.write(`editors: ${JSON.stringify(tally)}\n`)
}

let current: TestRepo = makeRepo({ files: { 'a.txt': lines() } })
function freshRepo(): TestRepo {
  current[Symbol.dispose]()
  return makeRepo({ files: { 'a.txt': lines() } })
}

/** A user whose next commit follows as soon as git is done with the one before. */
function keepCommitting(repo: TestRepo, pauseMs: number) {
  const tally = { commits: 0, failures: 0 }
  let isOver = false
  const run = async (): Promise<void> => {
    for (let n = 1; !isOver; n++) {
      repo.write('mine.txt', `mine ${n}\n`)
      const done = await new Promise((resolve) =>
        execFile('git', ['commit', '-qam', `user ${n}`], { cwd: repo.dir, env: repo.env }, (error) =>
          resolve(error === null),
        ),
      )
      done ? tally.commits++ : tally.failures++
      await new Promise((resolve) => setTimeout(resolve, Math.random() * pauseMs))
    }
  }
  const ended = run()
  const stop = async () => {
    isOver = true
    await ended
    return tally
  }
  return stop
}

/** Every landing by the library's own way: proposed, approved, landed. Nothing is tried again. */
async function raceCommits(): Promise<void> {
  await using repo = makeRepo({ files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'mine.txt': 'mine\n' } })
  const galley = await open(repo.dir, { env: repo.env })
  const stop = keepCommitting(repo, pauseMs)
  const ends: Record<string, number> = {}
  let reparented = 0
  for (let n = 0; n < commits; n++) {
    const edits = ['a', 'b'].map((name) => ({ op: 'write', path: `${name}.txt`, content: `${name} ${n}\n` }))
    const { change } = await galley.propose({ batch: { version: 1, title: `agent ${n}`, edits } })
    await galley.approve({ id: change.id })
    const end = await galley.land({ id: change.id }).then(
      ({ landed }) => {
        if (landed.before !== change.base) reparented++
        return 'landed'
      },
      (error: { code?: string }) => error.code ?? 'none',
    )
    ends[end] = (ends[end] ?? 0) + 1
  }
  const user = await stop()
  await galley.close()
  const subjects: Record<string, number> = {}
  let mixed = 0
  for (const text of repo.git('log', '--format=%x01%s', '--name-only').split('\x01').slice(1)) {
    const [subject = '', ...paths] = text.split('\n').filter((line) => line !== '')
    const [who = ''] = subject.split(' ')
    subjects[who] = (subjects[who] ?? 0) + 1
    if (who !== 'first' && paths.join() !== (who === 'user' ? 'mine.txt' : 'a.txt,b.txt')) mixed++
  }
  const lost = user.commits - (subjects['user'] ?? 0) + (ends['landed'] ?? 0) - (subjects['agent'] ?? 0)
  const fsck = repo.tryGit('fsck', '--strict', '--no-dangling').code
  process.stdout.write(
    `commits: ${JSON.stringify({ ends, reparented, user, subjects, mixed, lost, fsck })}\n`,
  )
}

async function raceReaders(): Promise<void> {
  const size = 3_000_000
  await using repo = makeRepo({ files: { big: Buffer.alloc(size, 65) } })
  const mode = 0o640
  chmodSync(join(repo.dir, 'big'), mode)
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const reader = new Worker(READER, {
    eval: true,
    workerData: { file: join(repo.dir, 'big'), flag, size, mode },
  })
  const told = new Promise((resolve) => reader.once('message', resolve))
  for (let n = 1; n <= reads; n++)
    await landCommit(await stageChange(repo, { big: Buffer.alloc(size, 65 + (n % 26)) }))
  Atomics.store(flag, 0, 1)
  process.stdout.write(
    `readers of a 3 MB file of mode 640 during ${reads} landings, by open, read and fstat: ${JSON.stringify(await told)}\n`,
  )
}

async function main(): Promise<void> {
  await raceEditors()
  await raceCommits()
  await raceReaders()
  current[Symbol.dispose]()
}

void main()
