import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { batch, cliHere, openGalley } from '../helpers/galley.ts'
import { makeRepo, type TestRepo } from '../helpers/repo.ts'

const program = join(import.meta.dirname, '../../dist/galley.js')
const library = join(import.meta.dirname, '../../dist/index.js')

/** How code of a proposal may try to be taken for a person. `$C` is the command. */
const TRICKS = {
  plainly: '$C',
  'without the variable': 'env -u GALLEY_AGENT $C',
  'in a shell that forgot it': 'unset GALLEY_AGENT; sh -c "$C"',
  'in a session of its own': 'setsid -w env -u GALLEY_AGENT $C',
  'with a variable that says no': 'GALLEY_AGENT=0 $C',
}

const edit = batch([{ op: 'write', path: 'a.txt', content: 'two\n' }])

/** What the code of a proposal, run where `place` runs it, gets to hear when it approves the change that waits. */
async function heard(place: keyof typeof PLACES, trick: string): Promise<string> {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': '{}\n' } })
  const waiting = (await cliHere(repo, ['propose', '-', '--json'], { input: JSON.stringify(edit) })).json
  const yes = `cd '${repo.dir}'; C="${process.execPath} ${program} approve ${waiting.change.id} --json"; ${trick}`
  repo.write('yes.sh', `{ ${yes}; } >'${repo.home}/heard' 2>&1\nexit 0\n`)
  repo.commit('what a proposal wrote')
  await PLACES[place](repo, `sh ./yes.sh`)
  const { json } = await cliHere(repo, ['show', waiting.change.id, '--json'])
  expect(json.change.state).toBe('staged')
  return readFileSync(join(repo.home, 'heard'), 'utf8')
}

const propose = (repo: TestRepo) =>
  cliHere(repo, ['propose', '-', '--json'], {
    input: JSON.stringify({
      ...edit,
      title: 'Another',
      edits: [{ op: 'write', path: 'b.txt', content: 'b\n' }],
    }),
  })

const policy = (repo: TestRepo, text: object) => {
  repo.write('.galley.json', JSON.stringify(text))
  repo.commit('policy')
}

const PLACES = {
  check: async (repo: TestRepo, run: string) => {
    policy(repo, { checks: [{ name: 'tests', run, tree: 'full' }] })
    await propose(repo)
  },
  hook: async (repo: TestRepo, run: string) => {
    const hook = join(repo.dir, '.git/hooks/pre-commit')
    repo.write('.git/hooks/pre-commit', `#!/bin/sh\n${run}\n`)
    chmodSync(hook, 0o755)
    await propose(repo)
  },
  setup: async (repo: TestRepo, run: string) => {
    policy(repo, { setup: { run }, checks: [{ name: 'tests', run: 'true', tree: 'full' }] })
    await propose(repo)
  },
}

describe('code that comes from a proposal may not say yes', () => {
  test.each(Object.entries(TRICKS))('in a check, called %s', async (_, trick) => {
    expect(await heard('check', trick)).toContain('agent-may-not-approve')
  })

  test.each(['hook', 'setup'] as const)('in a %s', async (place) => {
    expect(await heard(place, TRICKS.plainly)).toContain('agent-may-not-approve')
  })

  test('by the library, with an environment that hides who it is', async () => {
    const script = `import('${library}').then(async ({ open }) => { const galley = await open(process.cwd(), { env: { PATH: process.env.PATH, HOME: process.env.HOME } }); try { console.log(await galley.approve({ id: process.argv[1], via: 'cli' })) } catch (error) { console.log(error.code) } finally { await galley.close() } })`
    expect(await heard('check', `${process.execPath} -e "${script}" "$(echo "$C" | cut -d' ' -f4)"`)).toBe(
      'agent-may-not-approve\n',
    )
  })
})

test.each([
  ['check:tests', { checks: [{ name: 'tests', run: 'echo "$GALLEY_AGENT" >"$HOME/who"' }] }],
  [
    'setup',
    {
      setup: { run: 'echo "$GALLEY_AGENT" >"$HOME/who"' },
      checks: [{ name: 'a', run: 'true', tree: 'full' }],
    },
  ],
  ['agent:0', { checks: [{ name: 'tests', run: 'true' }] }],
])('what galley starts for a proposal is marked as %s', async (mark, text) => {
  using repo = makeRepo({ files: { 'a.txt': 'one\n', '.galley.json': JSON.stringify(text) } })
  await using galley = await openGalley(repo)
  if (mark.startsWith('agent:')) {
    const program = join(repo.home, '0')
    writeFileSync(program, '#!/bin/sh\necho "$GALLEY_AGENT" >"$HOME/who"; echo x >>a.txt\n', { mode: 0o755 })
    await galley.run({ command: [program] })
  } else await propose(repo)
  expect(readFileSync(join(repo.home, 'who'), 'utf8')).toBe(`${mark}\n`)
})
