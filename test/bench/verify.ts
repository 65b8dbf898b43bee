/**
 * Measures `verify`: what a commit costs, in a history of approved commits, of a person's own, and of merges. By hand:
 *
 *     npm run bench -- verify [commits, default 1000] [files, default 20000]
 *
 * Bound: a commit costs at most twenty times what `git log --raw` needs to show it, and 2 ms; a merge and its two sides 30 ms. Where
 * signatures are required, a commit costs what `ssh-keygen -Y verify` needs for its approval on top, three times that at most.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageHashOf } from '../../src/flow/record-approval.ts'
import { digestOf } from '../../src/flow/stage.ts'
import { verify } from '../../src/flow/verify/verify.ts'
import { openWorld } from '../../src/flow/world.ts'
import { type LoggedCommit, walkCommits } from '../../src/git/commit-log.ts'
import { openObjectReader } from '../../src/git/objects.ts'
import { commitId } from '../../src/model/ids.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'
import { makeKey, signAs, signText, type TestKey } from '../helpers/signing.ts'

const commitCount = Number(process.argv[2] ?? 1000)
const fileCount = Number(process.argv[3] ?? 20_000)
const mergeCount = Math.max(1, Math.floor(commitCount / 20))

const run = (repo: TestRepo, args: readonly string[], input: string): string =>
  execFileSync('git', [...args], {
    cwd: repo.dir,
    env: repo.env,
    input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  })

const pathOf = (n: number): string => `p${Math.floor(n / 1000)}/m${Math.floor((n % 1000) / 50)}/f${n % 50}.ts`
const who = (n: number): string => `A <a@example.org> ${1_700_000_000 + n} +0000`
const blob = (path: string, text: string): string =>
  `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`

/** main: commits of three files each, and merges of branches of one commit, all from one import. */
function fill(repo: TestRepo): void {
  const parts: string[] = []
  const commit = (ref: string, n: number, from: string, message: string, files: string) => {
    parts.push(
      `commit ${ref}\nmark :${n}\ncommitter ${who(n)}\ndata ${message.length}\n${message}\n${from}${files}\n`,
    )
  }
  const all = Array.from({ length: fileCount }, (_, n) => blob(pathOf(n), `file ${n}\n`)).join('')
  commit('refs/heads/main', 1, '', 'all', `${all}${blob('.galley.json', '{ "guard": ["main"] }\n')}`)
  for (let n = 2; n < commitCount + 2; n++) {
    const files = [0, 1, 2].map((i) => blob(pathOf((n * 7919 + i * 4001) % fileCount), `change ${n} ${i}\n`))
    commit('refs/heads/main', n, '', `Change ${n}`, files.join(''))
  }
  parts.push(`reset refs/heads/start\nfrom :1\n\nreset refs/heads/merges\nfrom :${commitCount + 1}\n\n`)
  let mark = commitCount + 2
  for (let n = 0; n < mergeCount; n++) {
    const base = n === 0 ? commitCount + 1 : mark - 1
    commit(
      'refs/heads/side',
      mark,
      `from :${base}\n`,
      `Side ${n}`,
      blob(pathOf((n * 31) % fileCount), `side ${n}\n`),
    )
    commit(
      'refs/heads/merges',
      mark + 1,
      '',
      `Ours ${n}`,
      blob(pathOf((n * 31 + 17) % fileCount), `ours ${n}\n`),
    )
    const content = blob(pathOf((n * 31) % fileCount), `side ${n}\n`)
    commit('refs/heads/merges', mark + 2, `merge :${mark}\n`, `Merge ${n}`, content)
    mark += 3
  }
  run(repo, ['fast-import', '--quiet', '--date-format=raw'], parts.join(''))
  repo.git('symbolic-ref', 'HEAD', 'refs/heads/main')
}

/** The log of a change that landed: four events, as galley writes them. */
function logOf(change: string, commit: LoggedCommit): string {
  const { transitions: manifest, tree, commit: id } = commit
  const base = commit.parents[0] ?? null
  const common = { at: '2023-11-14T22:13:20.000Z', by: 'A <a@example.org>' }
  const files = manifest.map(({ path }) => ({ path, tier: 'exact', added: 1, removed: 1 }))
  const digest = digestOf(manifest)
  const revision = { number: 1, commit: id, tree, base, digest, manifest, files, remarks: [], reads: [] }
  const onto = 'refs/heads/main'
  const first = { title: change, body: '', agent: null, onto, stackedOn: null, key: null, batchHash: '' }
  const events = [
    { kind: 'proposed', ...first, undoes: [], redoes: [] },
    { kind: 'staged', revision, reason: '' },
    { kind: 'approved', revision: 1, digest, tag: id, via: 'cli' },
    { kind: 'landed', revision: 1, landing: { ref: onto, before: base, after: id } },
  ]
  const ref = `refs/galley/log/${change}`
  return [
    `reset ${ref}\n`,
    ...events.map((event) => {
      const text = `${JSON.stringify({ ...common, ...event }, null, 1)}\n`
      return `commit ${ref}\ncommitter ${who(0)}\ndata 1\nx\nM 100644 inline event.json\ndata ${Buffer.byteLength(text)}\n${text}\n`
    }),
  ].join('')
}

/**
 * An approval for every commit after `start` that is no merge, as a server keeps them.
 *
 * @param key - Signs them; null = they are not signed.
 */
async function approveAll(
  repo: TestRepo,
  start: string,
  branch: string,
  key: TestKey | null,
): Promise<number> {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const { door } = world.repository
  const reader = openObjectReader(door)
  const id = (rev: string) => commitId(repo.git('rev-parse', rev))
  const commits = await walkCommits(door, { include: [id(branch)], exclude: [id(start)] })
  const tags: string[] = []
  const logs: string[] = []
  const names: string[] = []
  for (const [n, commit] of commits.entries()) {
    if (commit.parents.length > 1) continue
    const change = `g${String(n).padStart(9, '0')}`
    logs.push(logOf(change, commit))
    const contents = await reader.contents(commit.commit)
    const body = `${JSON.stringify(
      {
        change,
        revision: 1,
        commit: commit.commit,
        base: commit.parents[0],
        tree: commit.tree,
        digest: digestOf(commit.transitions),
        messageHash: messageHashOf(contents?.bytes ?? Buffer.alloc(0)),
        policyHash: '',
        checks: [],
        by: 'A <a@example.org>',
        via: 'cli',
        at: '2023-11-14T22:13:20.000Z',
        expires: null,
      },
      null,
      1,
    )}\n`
    const head = `object ${commit.commit}\ntype commit\ntag t${n}\ntagger ${who(n)}\n\n`
    const text = key === null ? body : body + signText(repo, key, head + body)
    tags.push(`tag t${n}\nfrom ${commit.commit}\ntagger ${who(n)}\ndata ${text.length}\n${text}\n`)
    names.push(change)
  }
  await reader.close()
  await world.close()
  run(repo, ['fast-import', '--quiet', '--date-format=raw', '--force'], [...tags, ...logs].join(''))
  const rows = repo
    .git('for-each-ref', '--sort=taggerdate', '--format=%(objectname) %(refname)', 'refs/tags/')
    .split('\n')
  const lines = rows.flatMap((row, n) => {
    const [tag = '', ref = ''] = row.split(' ')
    return [`create refs/galley/approvals/${names[n]}/1/${tag.slice(0, 12)} ${tag}`, `delete ${ref}`]
  })
  run(repo, ['update-ref', '--stdin'], `${lines.join('\n')}\n`)
  repo.git('pack-refs', '--all')
  return names.length
}

async function timed(name: string, commits: number, task: () => Promise<unknown> | unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const begun = performance.now()
    await task()
    times.push(performance.now() - begun)
  }
  const ms = [...times].sort((a, b) => a - b)[1] ?? 0
  process.stdout.write(
    `${name.padEnd(46)} ${ms.toFixed(0).padStart(6)} ms  ${(ms / commits).toFixed(2)} ms a commit\n`,
  )
  return ms
}

async function judge(
  repo: TestRepo,
  range: string,
  requireSignature = false,
): Promise<Readonly<Record<string, number>>> {
  const world = await openWorld(repo.dir, { env: repo.env, clock: systemClock })
  const more = requireSignature ? { allowedSigners: join(repo.home, 'signers') } : {}
  try {
    return (await verify(world, { range, onto: 'main', requireSignature, ...more })).counts
  } finally {
    await world.close()
  }
}

using repo = makeRepo()
fill(repo)
const show = (range: string) => () =>
  repo.git('log', '--raw', '-r', '-z', '--no-renames', '--no-abbrev', range)
const log = await timed(`git log --raw, ${commitCount} commits`, commitCount, show('start..main'))
const human = await timed('verify, no approval at all', commitCount, () => judge(repo, 'start..main'))
const approvals = await approveAll(repo, 'start', 'main', null)
const approved = await timed(`verify, ${approvals} approvals`, commitCount, () => judge(repo, 'start..main'))
process.stdout.write(`  ${JSON.stringify(await judge(repo, 'start..main'))}\n`)
await timed('verify, the last commit of them', 1, () => judge(repo, 'main~1..main'))
const merges = await timed(`verify, ${mergeCount} merges and their two sides`, mergeCount, () =>
  judge(repo, 'main..merges'),
)
process.stdout.write(`  ${JSON.stringify(await judge(repo, 'main..merges'))}\n`)
const signedCount = Math.min(100, commitCount)
const [signedRange, key] = [`main~${signedCount}..main`, makeKey(repo, 'key')]
signAs(repo, { name: 'A', key })
writeFileSync(join(repo.home, 'signers'), `a@example.org namespaces="git" ${key.publicText}\n`)
repo.git('config', '--global', 'gpg.ssh.allowedSignersFile', join(repo.home, 'signers'))
await approveAll(repo, `main~${signedCount}`, 'main', key)
const signed = await timed(`verify --require-signature, ${signedCount} commits`, signedCount, () =>
  judge(repo, signedRange, true),
)
process.stdout.write(`  ${JSON.stringify(await judge(repo, signedRange, true))}\n`)
writeFileSync(join(repo.home, 'text'), 'text\n')
writeFileSync(join(repo.home, 'text.sig'), signText(repo, key, 'text\n'))
const sshVerify = ['-Y', 'verify', '-n', 'git', '-I', 'a@example.org', '-f', join(repo.home, 'signers')]
const alone = await timed('ssh-keygen -Y verify, ten times', 10, () => {
  for (let n = 0; n < 10; n++)
    execFileSync('ssh-keygen', [...sshVerify, '-s', join(repo.home, 'text.sig')], { input: 'text\n' })
})
process.stdout.write(
  `a signed approval: ${(signed / signedCount).toFixed(1)} ms, ${(signed / signedCount / (alone / 10)).toFixed(1)} × ssh-keygen alone\n`,
)
process.stdout.write(
  `against git log --raw: ${(human / log).toFixed(1)} × without approvals, ${(approved / log).toFixed(1)} × with; ${(merges / mergeCount).toFixed(1)} ms a merge\n`,
)
