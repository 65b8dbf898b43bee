import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { galleyRefs, makeClones } from '../helpers/clones.ts'
import { eventsOf, type ForgedEvent, feed, writeLog } from '../helpers/forge-log.ts'
import { batch, openGalley, refusal } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'

const append = { op: 'append', path: 'a.txt', content: 'b\n' }

/** Ann has proposed, approved and pushed a change; what Ben fetches may be anything. */
async function pushed(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }) {
  const made = makeClones(2, { files })
  const [annRepo, benRepo] = made.clones
  if (annRepo === undefined || benRepo === undefined) throw new Error('two clones')
  const [ann, ben] = [await openGalley(annRepo), await openGalley(benRepo)]
  const { change } = await ann.propose({ batch: batch([append]) })
  await ann.approve({ id: change.id })
  await ann.push()
  const close = async () => {
    await ann.close()
    await ben.close()
    made[Symbol.dispose]()
  }
  const refs = made.bare.git('for-each-ref', '--format=%(refname)', 'refs/galley/approvals').split('\n')
  const at = { bare: made.bare, annRepo, benRepo, ann, ben, change, id: change.id }
  return { ...at, approval: refs[0] ?? '', [Symbol.asyncDispose]: close }
}

let kept: ReturnType<typeof pushed> | null = null
afterAll(async () => (await kept)?.[Symbol.asyncDispose]())

/** One remote for many tests: it is as Ann pushed it, and Ben has fetched nothing, each time. */
async function shared() {
  kept ??= pushed()
  const scene = await kept
  const { bare, annRepo, benRepo } = scene
  const gone = bare.git('for-each-ref', '--format=delete %(refname)', 'refs/galley')
  const there = galleyRefs(annRepo).map((line) => `create ${line.split(' ').reverse().join(' ')}`)
  feed(bare, ['update-ref', '--no-deref', '--stdin'], `${gone}\n`)
  feed(bare, ['update-ref', '--stdin'], `${there.join('\n')}\n`)
  rmSync(join(benRepo.dir, '.git/galley'), { recursive: true, force: true })
  const ben = await openGalley(benRepo)
  return { ...scene, ben, [Symbol.asyncDispose]: () => ben.close() }
}

type Scene = Awaited<ReturnType<typeof shared>>

const tagText = (bare: TestRepo, ref: string) => `${bare.git('cat-file', 'tag', ref)}\n`

/** Puts a tag where an approval stands on the remote, under its own name unless another is given. */
function putTag(bare: TestRepo, id: string, text: string, name?: string): string {
  const tag = feed(bare, ['hash-object', '-t', 'tag', '-w', '--stdin'], text)
  const ref = `refs/galley/approvals/${id}/1/${name ?? tag.slice(0, 12)}`
  bare.git('update-ref', ref, tag)
  return ref
}

describe('an approval on the remote', () => {
  const forgeries: readonly (readonly [string, string, (scene: Scene) => string])[] = [
    [
      'under another name than its object’s',
      'not named after',
      ({ bare, id, approval }) => {
        const ref = `refs/galley/approvals/${id}/1/0123456789ab`
        bare.git('update-ref', ref, approval)
        return ref
      },
    ],
    [
      'that is a commit',
      'not hold a tag',
      ({ bare, id }) => {
        const commit = bare.git('rev-parse', 'main')
        const ref = `refs/galley/approvals/${id}/1/${commit.slice(0, 12)}`
        bare.git('update-ref', ref, commit)
        return ref
      },
    ],
    [
      'of another digest',
      'other bytes',
      ({ bare, id, approval, change }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(change.digest, () => 'a'.repeat(64)),
        ),
    ],
    [
      'with another message',
      'other bytes',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(/"messageHash": "\w+"/, () => `"messageHash": "${'b'.repeat(64)}"`),
        ),
    ],
    [
      'of another commit',
      'another commit or change',
      ({ bare, id, approval, change }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(
            `object ${change.commit}`,
            () => `object ${bare.git('rev-parse', 'main')}`,
          ),
        ),
    ],
    [
      'that says it is of another change',
      'another commit or change',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(`"change": "${id}"`, () => '"change": "g000000000"'),
        ),
    ],
    [
      'that is no JSON',
      'not hold an approval',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace('"by":', () => '"by"'),
        ),
    ],
    [
      'by nobody',
      'by whom',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(/"by": ".*"/, () => '"by": "Ann"'),
        ),
    ],
    [
      'without a time',
      'does not say when',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(/"at": ".*"/, () => '"at": "yesterday"'),
        ),
    ],
    [
      'by a way that is none',
      'no way of approving',
      ({ bare, id, approval }) =>
        putTag(
          bare,
          id,
          tagText(bare, approval).replace(/"via": "\w+"/, () => '"via": "telepathy"'),
        ),
    ],
    [
      'larger than any',
      'bytes',
      ({ bare, id, approval }) => putTag(bare, id, `${tagText(bare, approval)}${'x'.repeat(1 << 20)}\n`),
    ],
    [
      'with more behind it',
      'follows the approval',
      ({ bare, id, approval }) => putTag(bare, id, `${tagText(bare, approval)}and so on\n`),
    ],
  ]

  test('is dropped as forged where it does not stand up to the objects, and the rest comes', async () => {
    await using scene = await shared()
    const made = forgeries.map(([what, said, forge]) => ({ what, said, ref: forge(scene) }))
    const { changes, dropped } = await scene.ben.fetch()
    const reasons = new Map(dropped.map((one) => [one.ref, `${one.code}: ${one.reason}`]))
    for (const { what, said, ref } of made)
      expect(reasons.get(ref), what).toMatch(new RegExp(`^forged: .*${said}`))
    expect(dropped).toHaveLength(made.length)
    expect(changes).toMatchObject([{ id: scene.id, approvals: 1 }])
    expect(galleyRefs(scene.benRepo)).toEqual(galleyRefs(scene.annRepo))
  })

  test('of a revision that nobody has seen waits', async () => {
    await using scene = await shared()
    const ref = scene.approval.replace('/1/', () => '/2/')
    scene.bare.git('update-ref', ref, scene.approval)
    expect((await scene.ben.fetch()).dropped).toMatchObject([{ ref, code: 'stale' }])
  })

  test('that was moved to another object leaves the one that is here', async () => {
    await using scene = await shared()
    await scene.ben.fetch()
    const before = galleyRefs(scene.benRepo)
    const other = feed(
      scene.bare,
      ['hash-object', '-t', 'tag', '-w', '--stdin'],
      tagText(scene.bare, scene.approval).replace('cli', () => 'web'),
    )
    scene.bare.git('update-ref', scene.approval, other)
    expect((await scene.ben.fetch()).dropped).toMatchObject([{ ref: scene.approval, code: 'forged' }])
    expect(galleyRefs(scene.benRepo)).toEqual(before)
    expect(await refusal(() => scene.ben.push())).toMatchObject({ code: 'branch-moved' })
    expect(scene.bare.git('rev-parse', scene.approval)).toBe(other)
  })
})

describe('a name on the remote that is none of galley’s', () => {
  test('is dropped, whatever it is near to', async () => {
    await using scene = await shared()
    const id = 'g000000000'
    const names = [
      'changes/gshort/1',
      `changes/${id}/01`,
      `changes/${id}/2/2`,
      'changes/GABCDEFGHJ/1',
      'log/main',
      `approvals/${id}/1/xyz`,
      `changes/${id}/99999`,
    ].map((name) => `refs/galley/${name}`)
    for (const name of names) scene.bare.git('update-ref', name, 'main')
    const { dropped, changes } = await scene.ben.fetch()
    expect(dropped.map((one) => `${one.code} ${one.ref}`).sort()).toEqual(
      names.map((n) => `forged ${n}`).sort(),
    )
    expect(changes).toHaveLength(1)
  })
})

describe('a log on the remote', () => {
  const asForged = (scene: Scene): ForgedEvent[] =>
    eventsOf(scene.bare, scene.id).map(({ event }) => ({ event }))
  /** Changes one event of the log and writes it whole. */
  const edit = (scene: Scene, kind: string, change: (event: ForgedEvent['event']) => object): void => {
    const events = asForged(scene).map((one) =>
      one.event.kind === kind ? { ...one, event: { ...one.event, ...change(one.event) } } : one,
    )
    writeLog(scene.bare, scene.id, events)
  }
  const inRevision = (scene: Scene, change: (revision: ForgedEvent['event']) => object): void =>
    edit(scene, 'staged', (event) => ({ revision: { ...event.revision, ...change(event.revision) } }))
  const inManifest = (scene: Scene, change: object): void =>
    inRevision(scene, ({ manifest }) => ({ manifest: [{ ...manifest[0], ...change }] }))

  const forgeries: readonly (readonly [string, string, (scene: Scene) => void])[] = [
    [
      'whose revision has other bytes than it says',
      'other bytes',
      (s) => inRevision(s, () => ({ digest: 'a'.repeat(64) })),
    ],
    ['whose list of files is another', 'other bytes', (s) => inManifest(s, { path: 'b.txt' })],
    ['whose list leads into .git', '.git', (s) => inManifest(s, { path: '.git/hooks/pre-commit' })],
    ['whose list leads out', 'climbs above', (s) => inManifest(s, { path: '../x' })],
    ['whose list holds a link', 'link or a submodule', (s) => inManifest(s, { newMode: '120000' })],
    ['whose revision names another base', 'not on the base', (s) => inRevision(s, () => ({ base: null }))],
    [
      'whose revision names another tree',
      'not on the base',
      (s) => inRevision(s, ({ commit }) => ({ tree: s.bare.git('rev-parse', `${commit}^^{tree}`) })),
    ],
    [
      'whose revision is another commit',
      'the message',
      (s) => {
        const main = s.bare.git('rev-parse', 'main')
        inRevision(s, () => ({ commit: main, base: null, tree: s.bare.git('rev-parse', 'main^{tree}') }))
      },
    ],
    [
      'whose revision is no commit',
      'no commit that came',
      (s) => inRevision(s, ({ tree }) => ({ commit: tree })),
    ],
    [
      'whose title is not that of the commit',
      'the message',
      (s) => edit(s, 'proposed', () => ({ title: 'Harmless' })),
    ],
    [
      'whose title is a command to the terminal',
      'single line',
      (s) => edit(s, 'proposed', () => ({ title: '\u001b[2J' })),
    ],
    [
      'that lands where no branch is',
      'is no branch',
      (s) => edit(s, 'proposed', () => ({ onto: 'refs/tags/v1' })),
    ],
    [
      'that lands on a name with tricks',
      'is no branch',
      (s) => edit(s, 'proposed', () => ({ onto: 'refs/heads/a/../../x' })),
    ],
    [
      'of the future',
      'of the future',
      (s) => edit(s, 'approved', () => ({ at: '2999-01-01T00:00:00.000Z' })),
    ],
    ['with a revision out of turn', 'out of turn', (s) => inRevision(s, () => ({ number: 2 }))],
    ['with an event that nobody knows', 'no event', (s) => edit(s, 'approved', () => ({ kind: 'blessed' }))],
    [
      'that begins twice',
      'only proposal',
      (s) => writeLog(s.bare, s.id, [...asForged(s), ...asForged(s).slice(0, 1)]),
    ],
    ['that does not begin', 'only proposal', (s) => writeLog(s.bare, s.id, asForged(s).slice(1))],
    ['without a revision', 'no revision', (s) => writeLog(s.bare, s.id, asForged(s).slice(0, 1))],
    [
      'whose summary lies',
      'its summary',
      (s) =>
        writeLog(
          s.bare,
          s.id,
          asForged(s).map((one) => ({
            ...one,
            message: `${one.event.kind} ${s.id}\n\n{"id":"${s.id}","state":"landed"}\n`,
          })),
        ),
    ],
    [
      'whose summary is none',
      'its summary',
      (s) =>
        writeLog(
          s.bare,
          s.id,
          asForged(s).map((one) => ({ ...one, message: `${one.event.kind} ${s.id}\n\nhello\n` })),
        ),
    ],
    [
      'with a merge',
      'is a merge',
      (s) => {
        const tip = s.bare.git('rev-parse', `refs/galley/log/${s.id}`)
        writeLog(
          s.bare,
          s.id,
          asForged(s).map((one, n) => (n === 1 ? { ...one, moreParents: [tip] } : one)),
        )
      },
    ],
    ['that is no log', 'no event', (s) => void s.bare.git('update-ref', `refs/galley/log/${s.id}`, 'main')],
    [
      'that is a tag',
      'is a tag',
      (s) => void s.bare.git('update-ref', `refs/galley/log/${s.id}`, s.approval),
    ],
  ]

  test.each(forgeries)('%s is dropped with all of the change', async (_what, said, forge) => {
    await using scene = await shared()
    forge(scene)
    const { changes, dropped } = await scene.ben.fetch()
    expect(dropped).toMatchObject([
      { ref: `refs/galley/log/${scene.id}`, code: 'forged', reason: expect.stringContaining(said) },
    ])
    expect(changes).toEqual([])
    expect(galleyRefs(scene.benRepo)).toEqual([])
    expect(await scene.ben.status()).toMatchObject({ pending: [] })
  })

  test('that says another commit is its landing is dropped', async () => {
    await using scene = await shared()
    const tip = scene.bare.git('rev-parse', `refs/galley/log/${scene.id}`)
    const landing = { ref: 'refs/heads/main', before: null, after: scene.bare.git('rev-parse', 'main') }
    const event = { kind: 'landed', at: '2026-01-01T00:00:00.000Z', by: 'Ann <a@b>', revision: 1, landing }
    writeLog(scene.bare, scene.id, [{ event }], tip)
    const { dropped, changes } = await scene.ben.fetch()
    expect(dropped).toMatchObject([{ code: 'forged', reason: expect.stringContaining('not what became') }])
    expect(changes).toEqual([])
  })

  test('that was rewritten leaves the one that is here', async () => {
    await using scene = await shared()
    await scene.ben.fetch()
    const before = galleyRefs(scene.benRepo)
    writeLog(scene.bare, scene.id, asForged(scene))
    expect((await scene.ben.fetch()).dropped).toMatchObject([
      { code: 'forged', reason: expect.stringContaining('another beginning') },
    ])
    expect(galleyRefs(scene.benRepo)).toEqual(before)
  })

  test('that was wound back leaves the one that is here', async () => {
    await using scene = await shared()
    await scene.ben.fetch()
    const before = galleyRefs(scene.benRepo)
    scene.bare.git('update-ref', `refs/galley/log/${scene.id}`, `refs/galley/log/${scene.id}~1`)
    expect(await scene.ben.fetch()).toMatchObject({ changes: [], dropped: [] })
    expect(galleyRefs(scene.benRepo)).toEqual(before)
  })

  test('that has come without its revision waits', async () => {
    await using scene = await shared()
    scene.bare.git('update-ref', '-d', `refs/galley/changes/${scene.id}/1`)
    expect((await scene.ben.fetch()).dropped).toMatchObject([
      { ref: `refs/galley/changes/${scene.id}/1`, code: 'stale' },
    ])
    expect(galleyRefs(scene.benRepo)).toEqual([])
    scene.bare.git('update-ref', `refs/galley/changes/${scene.id}/1`, scene.change.commit)
    expect((await scene.ben.fetch()).changes).toHaveLength(1)
  })

  test('whose revision’s ref is another commit is dropped, also where the true one is here', async () => {
    await using scene = await shared()
    scene.bare.git('update-ref', `refs/galley/changes/${scene.id}/1`, 'main')
    expect((await scene.ben.fetch()).dropped).toMatchObject([{ code: 'forged' }])
    expect(galleyRefs(scene.benRepo)).toEqual([])
    const before = galleyRefs(scene.annRepo)
    expect((await scene.ann.fetch()).dropped).toMatchObject([{ code: 'forged' }])
    expect(galleyRefs(scene.annRepo)).toEqual(before)
  })

  test('that says checks have passed is not believed at the landing', async () => {
    await using scene = await pushed({
      'a.txt': 'a\n',
      '.galley.json': '{"checks":[{"name":"never","run":"! grep -q b a.txt"}]}',
    })
    const { commit } = scene.change
    const tip = scene.bare.git('rev-parse', `refs/galley/log/${scene.id}`)
    const checks = [
      { name: 'never', commit, outcome: 'passed', required: true, exitCode: 0, durationMs: 1, summary: '' },
    ]
    const event = {
      kind: 'checked',
      at: '2026-01-01T00:00:00.000Z',
      by: 'Ann <ann0@example.org>',
      revision: 1,
      checks,
    }
    writeLog(scene.bare, scene.id, [{ event }], tip)
    await scene.ben.fetch()
    expect((await scene.ben.show(scene.id)).change.checks).toMatchObject([{ outcome: 'passed' }])
    expect(await refusal(() => scene.ben.land({ id: scene.id }))).toMatchObject({ code: 'checks-failed' })
  })

  test('that says which bytes the working file is to hold is not believed', async () => {
    await using scene = await pushed()
    const evil = 'evil\n'
    const blob = feed(scene.bare, ['hash-object', '-w', '--stdin'], evil)
    const staged = asForged(scene).map((one) => {
      if (one.event.kind !== 'staged') return one
      const { revision } = one.event
      const old = revision.manifest[0].oldBlob
      const files = [{ ...revision.files[0], working: { old, new: blob } }]
      return { event: { ...one.event, revision: { ...revision, files } }, files: { output: evil } }
    })
    writeLog(scene.bare, scene.id, staged)
    expect((await scene.ben.fetch()).dropped).toEqual([])
    await scene.ben.land({ id: scene.id })
    expect(scene.benRepo.read('a.txt')).toBe('a\nb\n')
    expect(scene.benRepo.git('status', '--porcelain')).toBe('')
  })

  test('that counts fewer lines than there are does not get a rule to approve', async () => {
    const policy = '{"autoApprove":{"paths":["*.txt"],"maxLines":3}}'
    await using scene = await pushed({ 'a.txt': 'a\n', '.galley.json': policy })
    const many = { ...append, content: 'x\n'.repeat(50) }
    const { change } = await scene.ann.propose({ batch: batch([many]) })
    expect(change.state).toBe('staged')
    await scene.ann.push()
    const text = tagText(scene.bare, scene.approval)
    const mine: readonly ForgedEvent[] = eventsOf(scene.bare, change.id)
    const lying = mine.map(({ event }) =>
      event.kind === 'staged'
        ? {
            event: {
              ...event,
              revision: { ...event.revision, files: [{ ...event.revision.files[0], added: 1 }] },
            },
          }
        : { event },
    )
    writeLog(scene.bare, change.id, lying)
    const body = JSON.parse(text.slice(text.indexOf('\n{') + 1))
    const forged = {
      ...body,
      change: change.id,
      commit: change.commit,
      base: change.base,
      tree: change.tree,
      digest: change.digest,
      messageHash: messageHashOf(scene.bare, change.commit),
      by: 'rule',
      via: 'rule',
      rule: { text: policy, commit: change.base },
    }
    putTag(
      scene.bare,
      change.id,
      `object ${change.commit}\ntype commit\ntag galley/${change.id}/1\ntagger Mal <mal@example.org> 1700000000 +0000\n\n${JSON.stringify(forged, null, 1)}\n`,
    )
    expect(await scene.ben.fetch()).toMatchObject({ dropped: [] })
    expect(await refusal(() => scene.ben.land({ id: change.id }))).toMatchObject({ code: 'not-approved' })
    expect((await scene.ben.landAll()).landed).toHaveLength(1)
  })
})

/** As an approval has it: author and whole message. */
function messageHashOf(repo: TestRepo, commit: string): string {
  const author = repo.git('log', '-1', '--format=%an <%ae>', commit)
  const raw = repo.git('cat-file', 'commit', commit)
  const message = `${raw.slice(raw.indexOf('\n\n') + 2)}\n`
  return createHash('sha256').update(`${author}\0${message}`).digest('hex')
}

describe('objects on the remote', () => {
  test('that git finds broken do not come, and keep nothing else from coming', async () => {
    await using scene = await shared()
    const { bare, id } = scene
    const blob = feed(bare, ['hash-object', '-w', '--stdin'], 'x\n')
    const entry = (name: string) => Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
    const tree = feed(bare, ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], entry('.git'))
    const commit = feed(bare, ['commit-tree', tree, '-p', 'main', '-F', '-'], 'evil\n')
    bare.git('update-ref', 'refs/galley/changes/g000000000/1', commit)
    const { changes, dropped } = await scene.ben.fetch()
    expect(changes).toMatchObject([{ id }])
    expect(dropped.map((one) => one.ref)).toContain('refs/galley/changes/g000000000/1')
    expect(
      scene.benRepo.tryGit(`--git-dir=${scene.benRepo.dir}/.git/galley/store.git`, 'cat-file', '-e', commit)
        .code,
    ).not.toBe(0)
  })

  test('are in the store alone', async () => {
    await using scene = await shared()
    const before = scene.benRepo.snapshot()
    await scene.ben.fetch()
    expect(scene.benRepo.snapshot()).toEqual(before)
    expect(scene.benRepo.tryGit('cat-file', '-e', scene.change.commit).code).not.toBe(0)
  })
})
