import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { bundleProgram } from '../helpers/bundle-program.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

/** What became of one change of a member of the crowd. */
export interface Outcome {
  readonly id: string
  /** Of the refusal that was the last word; null = it landed. */
  readonly code: string | null
  readonly said: string
  readonly before: string | null
  readonly after: string | null
  readonly files: readonly {
    readonly path: string
    readonly oldMode: string
    readonly newMode: string
    readonly oldBlob: string
    readonly newBlob: string
  }[]
  /** Refusals on the way, by code. */
  readonly passing: Readonly<Record<string, number>>
  /** The longest of its calls. */
  readonly longestMs: number
}

export interface Crowd extends Disposable {
  readonly repo: TestRepo
  readonly outcomes: readonly Outcome[]
}

/** The file in which four members have a line each: a landing of one makes the others' merge, and be approved anew. */
const sharedBy = (member: number): string => `lines-${member >> 2}.txt`

/**
 * Lets processes propose, approve and land changes in one repository, all at once; every second one does so through
 * the command line.
 *
 * @param each - Changes of one member.
 */
export async function gatherCrowd(members: number, each: number): Promise<Crowd> {
  const numbers = Array.from({ length: members }, (_, n) => n)
  const lines = numbers.map((n) => `line ${n}.\n${'-\n'.repeat(6)}`).join('')
  const shared = Object.fromEntries(numbers.map((n) => [sharedBy(n), lines]))
  const seeds = Object.fromEntries(numbers.map((n) => [`of-${n}/seed.txt`, `seed ${n}\n`]))
  const repo = makeRepo({ files: { ...shared, 'end.txt': 'end\n', ...seeds } })
  const { program, remove } = await bundleProgram('test/landing/crowd-child.ts')
  try {
    const all = numbers.map((n) => member(program, repo, n, each))
    return { repo, outcomes: (await Promise.all(all)).flat(), [Symbol.dispose]: repo[Symbol.dispose] }
  } finally {
    remove()
  }
}

function member(program: string, repo: TestRepo, n: number, each: number): Promise<readonly Outcome[]> {
  const surface = n % 2 === 0 ? 'library' : 'command'
  const args = [
    program,
    resolve('dist'),
    repo.dir,
    JSON.stringify(repo.env),
    `${n}`,
    `${each}`,
    surface,
    sharedBy(n),
  ]
  return new Promise((done, failed) =>
    execFile(process.execPath, args, { env: repo.env, maxBuffer: 1 << 28 }, (error, out, said) =>
      error === null && out !== '' ? done(JSON.parse(out)) : failed(error ?? new Error(`no answer: ${said}`)),
    ),
  )
}

/** What is not as it has to be after a crowd: nothing, one hopes. */
export function faultsOf({ repo, outcomes }: Crowd, publicCodes: readonly string[]): readonly string[] {
  const landed = outcomes.filter(({ code }) => code === null)
  const isPublic = (code: string) => code !== 'internal' && publicCodes.includes(code)
  const nameless = outcomes.filter(({ code }) => code !== null && !isPublic(code))
  const history = repo.git('rev-list', '--reverse', 'HEAD').split('\n')
  const store = `--git-dir=${repo.dir}/.git/galley/store.git`
  const fsck = ['fsck', '--strict', '--no-dangling']
  const claims: readonly (readonly [string, boolean])[] = [
    ['history is not linear', repo.git('rev-list', '--min-parents=2', 'HEAD') === ''],
    [`${history.length} commits for ${landed.length} landings`, history.length === landed.length + 1],
    ['work tree or index differ from HEAD', repo.git('status', '--porcelain') === ''],
    ["the user's repository fails fsck", repo.tryGit(...fsck).out === ''],
    ['the store fails fsck', repo.tryGit(store, ...fsck).out === ''],
  ]
  return [
    ...nameless.map(({ id, code, said }) => `${id} was refused with ${code}: ${said}`),
    ...claims.filter(([, holds]) => !holds).map(([claim]) => claim),
    ...landed.flatMap((outcome) => faultsOfLanding(repo, history, outcome)),
  ]
}

function faultsOfLanding(repo: TestRepo, history: readonly string[], outcome: Outcome): readonly string[] {
  const { id, before, after } = outcome
  if (after === null || history.indexOf(after) !== history.indexOf(before ?? '') + 1)
    return [`${id} is not on its place in the history`]
  const raw = repo.git('diff-tree', '-r', '-z', '--no-renames', '--no-abbrev', before ?? '', after)
  const found = raw.split('\0').slice(0, -1)
  const expected = [...outcome.files]
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
    .flatMap(({ path, oldMode, newMode, oldBlob, newBlob }) => [
      `:${oldMode} ${newMode} ${oldBlob} ${newBlob}`,
      path,
    ])
  const bare = found.map((field, n) => (n % 2 === 0 ? field.replace(/ [A-Z]$/, '') : field))
  const isTold =
    repo.git('log', '-1', '--format=%(trailers:key=Galley-Change,valueonly)', after).trim() === id
  return [
    ...(bare.join('\0') === expected.join('\0') ? [] : [`${id} landed other transitions than its manifest`]),
    ...(isTold ? [] : [`${after} does not name ${id}`]),
  ]
}
