/**
 * One of a crowd: proposes, approves and lands changes in a repository where others do the same, through the library
 * or through the command line, and prints what became of each. Arguments: the folder of the built package, the
 * repository, its environment as JSON, the member's number, how many changes, `library` or `command`, and the file
 * in which it has a line.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Library from '../../src/index.ts'
import type { Outcome } from './crowd.ts'

type File = Outcome['files'][number]
interface Staged {
  readonly id: string
  readonly files: readonly File[]
}
type Landing = Staged & { readonly before: string | null; readonly after: string }

/** The three verbs, by either surface; a refusal is thrown with its code. */
interface Verbs {
  readonly propose: (batch: object) => Promise<Staged>
  readonly approve: (id: string) => Promise<unknown>
  readonly land: (id: string) => Promise<Landing>
}

/** A refusal after which somebody at a terminal would try again. */
const PASSING = ['busy', 'branch-moved', 'locked', 'not-approved']
const MAX_TRIES = 100

async function byLibrary(dist: string, dir: string, env: Record<string, string>): Promise<Verbs> {
  const { open } = (await import(pathToFileURL(join(dist, 'index.js')).href)) as typeof Library
  const galley = await open(dir, { env })
  return {
    propose: async (batch) => (await galley.propose({ batch })).change,
    approve: (id) => galley.approve({ id }),
    land: async (id) => {
      const { change, landed } = await galley.land({ id })
      return { ...change, ...landed }
    },
  }
}

function byCommand(dist: string, dir: string, env: Record<string, string>): Verbs {
  const run = (args: readonly string[], input = '') => {
    const done = spawnSync(process.execPath, [join(dist, 'galley.js'), '-C', dir, ...args, '--json'], {
      env,
      input,
      encoding: 'utf8',
    })
    const answer = done.stdout === '' ? null : JSON.parse(done.stdout)
    if (answer?.ok === true) return answer
    throw Object.assign(new Error(answer?.error.message ?? done.stderr), { code: answer?.error.code })
  }
  return {
    propose: async (batch) => run(['propose', '-'], JSON.stringify(batch)).change,
    approve: async (id) => run(['approve', id]),
    land: async (id) => {
      const { change, landed } = run(['land', id])
      return { ...change, ...landed }
    },
  }
}

/** Files of one's own, a line of one's own in a file of several, and the end of a file where all write. */
function editsOf(member: number, n: number, shared: string): readonly object[] {
  const own = `of-${member}/${n}.txt`
  // Not all the same at once: that would be the rarest of crowds. Moves come in pairs, there and back.
  const turn = (n + member) % 5
  switch (n < turn + 2 && turn >= 3 ? 0 : turn) {
    case 0:
      return [{ op: 'write', path: own, mode: 'create', content: `${own}\n`, executable: member % 2 === 0 }]
    case 1:
      return [{ op: 'replace', path: shared, old: `line ${member}.\n`, new: `line ${member}.\n+${n}\n` }]
    case 2:
      return [{ op: 'append', path: 'end.txt', content: `${member}-${n}\n` }]
    case 3:
      return [{ op: 'move', path: `of-${member}/seed.txt`, to: own }]
    default:
      return [
        { op: 'move', path: `of-${member}/${n - 1}.txt`, to: `of-${member}/seed.txt` },
        { op: 'write', path: own, mode: 'create', content: 'x\n' },
      ]
  }
}

async function through(verbs: Verbs, batch: object): Promise<Outcome> {
  const passing: Record<string, number> = {}
  let longestMs = 0
  let files: readonly File[] = []
  let id = ''
  for (let tries = 1; ; tries++) {
    const begun = performance.now()
    try {
      if (id === '') ({ id } = await verbs.propose(batch))
      await verbs.approve(id)
      const waited = performance.now()
      const landed = await verbs.land(id).finally(() => {
        longestMs = Math.max(longestMs, performance.now() - waited)
      })
      files = landed.files
      return {
        id,
        code: null,
        said: '',
        before: landed.before,
        after: landed.after,
        files,
        passing,
        longestMs,
      }
    } catch (error) {
      longestMs = Math.max(longestMs, performance.now() - begun)
      const { code = 'none', message } = error as { code?: string; message: string }
      if (!PASSING.includes(code) || tries === MAX_TRIES)
        return { id, code, said: message, before: null, after: null, files, passing, longestMs }
      passing[code] = (passing[code] ?? 0) + 1
    }
  }
}

async function main(args: readonly string[]): Promise<void> {
  const [dist = '', dir = '', environment = '{}', member = '0', changes = '0', surface = '', shared = ''] =
    args
  const env = JSON.parse(environment) as Record<string, string>
  const verbs = surface === 'command' ? byCommand(dist, dir, env) : await byLibrary(dist, dir, env)
  const outcomes: Outcome[] = []
  for (let n = 0; n < Number(changes); n++) {
    const edits = editsOf(Number(member), n, shared)
    outcomes.push(await through(verbs, { version: 1, title: `Change ${n} of ${member}`, edits }))
  }
  process.stdout.write(JSON.stringify(outcomes))
  // The library's reader goes with the process.
  process.exit(0)
}

void main(process.argv.slice(2))
