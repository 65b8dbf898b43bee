/**
 * Measures the staging of an undo in the middle of many landed changes against one merge by git, as ratios in
 * one run (DESIGN.md section 16). Run by hand: `npm run bench -- undo [changes, default 1000] [rounds,
 * default 15]`.
 *
 * Makes a repository in the system's temporary directory, lands every change by galley, and removes it at the
 * end.
 */
import { spawn } from 'node:child_process'
import { open } from '../../src/flow/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const changeCount = Number(process.argv[2] ?? 1000)
const rounds = Number(process.argv[3] ?? 15)

const FILES = 200
const LINES = 60
const pathOf = (n: number): string => `src/d${n % 20}/f${n}.ts`
const lineOf = (file: number, line: number): string => `export const v${line} = ${file} // ${file}.${line}\n`
const contentOf = (file: number): string => Array.from({ length: LINES }, (_, i) => lineOf(file, i)).join('')

/** The quickest and the middle one: on a machine with other work the quickest says more. */
interface Times {
  readonly least: number
  readonly median: number
}

/** As galley starts git: without waiting for anything else. */
const runGit = (repo: TestRepo, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn('git', [...args], {
      cwd: repo.dir,
      env: { ...repo.env },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('latin1')
    })
    child.on('close', () => resolve(out.trim()))
  })

async function timed(task: () => Promise<unknown>): Promise<Times> {
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now()
    await task()
    taken.push(performance.now() - begun)
  }
  taken.sort((a, b) => a - b)
  return { least: taken[0] ?? 0, median: taken[Math.floor(taken.length / 2)] ?? 0 }
}

const repo = makeRepo({
  files: Object.fromEntries(Array.from({ length: FILES }, (_, n) => [pathOf(n), contentOf(n)])),
})
const galley = await open(repo.dir, { env: { ...repo.env } })
try {
  const landed: { readonly id: string; readonly commit: string }[] = []
  for (let n = 0; n < changeCount; n++) {
    const [file, line] = [n % FILES, 5 + 10 * (Math.floor(n / FILES) % 5)]
    const edit = { op: 'replace', path: pathOf(file), old: lineOf(file, line), new: `// changed ${n}\n` }
    const { change } = await galley.propose({
      batch: { version: 1, title: `change ${n}`, edits: [edit] },
      checks: 'later',
    })
    await galley.approve({ id: change.id })
    const done = await galley.land({ id: change.id })
    landed.push({ id: change.id, commit: done.landed.after })
  }
  const middle = landed[Math.floor(changeCount / 2)]
  if (middle === undefined) throw new Error('there is no change')
  const { id, commit } = middle
  const [tip, tree] = [repo.git('rev-parse', 'HEAD'), repo.git('rev-parse', `${commit}^^{tree}`)]
  const inverse = repo.git('commit-tree', '-p', commit, '-m', 'inverse', tree)
  const [base, ours] = [repo.git('commit-tree', '-m', 'b', `${commit}^{tree}`), `${tip}^{tree}`]
  const pair = [ours, tree].map((one) => repo.git('commit-tree', '-p', base, '-m', 's', one))
  const merge = await timed(() => runGit(repo, ['merge-tree', '--write-tree', tip, inverse]))
  const bare = await timed(() => runGit(repo, ['merge-tree', '--write-tree', ...pair]))
  const spawned = await timed(() => runGit(repo, ['--version']))
  const staged = await timed(() => galley.undo({ target: id, checks: 'later' }))
  const checked = await timed(() => galley.undo({ target: id }))
  const row = (name: string, { least, median }: Times): string => {
    const [a, b] = [least / merge.least, least / bare.least].map((ratio) => `${ratio.toFixed(2)} ×`)
    return `${name.padEnd(48)} ${least.toFixed(1).padStart(7)} ms (median ${median.toFixed(1)})  ${a}  (${b} the bare merge)\n`
  }
  process.stdout.write(
    `${changeCount} landed changes, ${FILES} files; undo of the one in the middle\n${row('git --version', spawned)}${row('git merge-tree of the branch and the inverse', merge)}${row('git merge-tree of commits made for it', bare)}${row('undo staged', staged)}${row('undo staged, with its scratch tree', checked)}`,
  )
} finally {
  await galley.close()
  repo[Symbol.dispose]()
}
