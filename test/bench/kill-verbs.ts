/**
 * Kills every verb that writes - propose, approve, land, undo, capture, gc - at every system call that changes something, counted over
 * all its processes and threads. The next galley command, `recover`, has to leave all that is the user's as it was before the
 * verb or as it is after it, and nothing lying about; the verb itself must then get through, or have been done. Needs Linux
 * and `cc`:
 *
 *     npm run bench -- kill-verbs [try every so many-th system call, default 1] [only this one]
 */
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { Snapshot, TestRepo } from '../helpers/repo.ts'
import { brokenStore, type Stage, stages } from '../landing/full-disk.ts'
import { bundleVerb, changesBetween, done, litter, runVerb } from '../landing/verb-trial.ts'
import { compileKiller, type Killer, outcomeOf } from './kill-at.ts'

const stride = Number(process.argv[2] ?? 1)
const only = process.argv[3]
let faults = 0

/** What the verb is meant to change, and nothing else: commits differ from run to run, by their times. */
function seen(repo: TestRepo): Snapshot {
  const whole = repo.snapshot()
  const tree = repo.git('rev-parse', 'HEAD^{tree}')
  const status = whole.status.replace(/^# branch.oid .*$/m, `# tree ${tree}`)
  return { ...whole, status, gitFiles: { refs: repo.git('for-each-ref', '--format=%(refname)') } }
}

function killed(killer: Killer, program: string, { repo, verb }: Stage, nth: number): string | null {
  const args = [process.execPath, program, repo.dir, JSON.stringify(repo.env), '-', JSON.stringify(verb)]
  const [file = '', ...rest] = [...killer.at(nth), ...args]
  const { stdout } = spawnSync(file, rest, { env: repo.env, cwd: repo.dir, encoding: 'utf8' })
  return outcomeOf({ said: stdout.replaceAll('}', '}\n') }).killed
}

/** Every change with its state. */
const changesOf = (program: string, repo: TestRepo): string => done(runVerb(program, repo, { verb: 'log' }))

/** What is wrong after the next commands. */
function faultsOf(program: string, stage: Stage, before: Snapshot, after: Snapshot): readonly string[] {
  const { repo, verb } = stage
  const recovered = runVerb(program, repo, { verb: 'recover' })
  const [sinceBefore, sinceAfter] = [before, after].map((state) => changesBetween(state, seen(repo)))
  const isOld = sinceBefore?.length === 0
  const isNew = sinceAfter?.length === 0
  const lying = [...litter(repo).map((name) => `left: ${name}`), ...brokenStore(repo)]
  const second = runVerb(program, repo, verb)
  // Done already: by the run that was killed.
  const isKnown =
    second.ok || (!isOld && ['already-applied', 'no-change', 'wrong-state'].includes(second.code))
  return [
    ...(recovered.ok ? [] : [`recover refused: ${recovered.code}: ${recovered.said.slice(0, 600)}`]),
    ...(isOld || isNew
      ? []
      : ['neither as before nor as after:', ...(sinceBefore ?? []), ...(sinceAfter ?? [])]),
    ...(isKnown ? [] : [`again refused: ${second.ok ? '' : `${second.code}: ${second.said.slice(0, 600)}`}`]),
    ...changesBetween(after, seen(repo)).map((change) => `at the end: ${change}`),
    ...lying,
    ...litter(repo).map((name) => `left at the end: ${name}`),
    ...brokenStore(repo),
  ]
}

function killEverywhere(killer: Killer, program: string, stage: Stage): void {
  const { name, repo, verb, restore } = stage
  restore()
  const before = seen(repo)
  const changes = changesOf(program, repo)
  const first = runVerb(program, repo, verb)
  if (!first.ok) throw new Error(`${name} does not work at all: ${first.said}`)
  const after = seen(repo)
  let kills = 0
  for (let nth = 1; ; nth += stride) {
    restore()
    const at = killed(killer, program, stage, nth)
    const lost = name === 'gc' && changesOf(program, repo) !== changes ? ['the changes are others'] : []
    for (const fault of [...lost, ...faultsOf(program, stage, before, after)]) {
      faults++
      process.stdout.write(`FAULT ${name}, call ${nth}, ${at ?? 'the end'}: ${fault}\n`)
    }
    if (at === null) break
    kills++
  }
  restore()
  process.stdout.write(`${name}: killed at ${kills} calls, faults so far ${faults}\n`)
}

const { program, remove } = await bundleVerb()
try {
  using killer = compileKiller()
  for (const stage of stages(program, tmpdir()))
    if (only === undefined || stage.name === only) killEverywhere(killer, program, stage)
} finally {
  remove()
}
if (faults > 0) process.exitCode = 1
