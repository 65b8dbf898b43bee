import { join } from 'node:path'
import { isAttributeInUse } from '../../git/attribute-in-use.ts'
import { type GitConfig, isTrue } from '../../git/config.ts'
import type { Repository } from '../../git/open-repository.ts'
import { operationInProgress } from '../../git/operation-state.ts'
import { readShallow } from '../../git/shallow.ts'
import { unmergedPaths } from '../../git/unmerged.ts'
import { type Finding, good, note, problem } from '../../model/finding.ts'
import { quote } from '../../policy/quote.ts'
import { indexLockOwner } from '../../store/landing-journal.ts'
import { galleyDirectory } from '../../store/open-store.ts'
import { namesIn } from '../../sys/directories.ts'
import { agesIn } from '../../sys/file-ages.ts'
import { resolveFile } from '../../sys/index-snapshot.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import type { World } from '../world.ts'
import { isLanding } from './doctor-landing.ts'

/** What of the user's repository keeps a landing from happening, and what of it galley goes around. */
export async function examineRepository(world: World): Promise<readonly Finding[]> {
  const { repository } = world
  const head = await world.head()
  const where =
    head.tip === null
      ? `${head.ref} has no commit yet; the first landing makes it`
      : head.detached
        ? `HEAD is detached at ${head.tip.slice(0, 12)}; changes land on HEAD itself`
        : `changes land on ${head.ref}, at ${head.tip.slice(0, 12)}`
  const config = await world.config()
  return [
    good('repository', where),
    ...(await examineOperation(world)),
    ...(await examineIndexLock(world)),
    ...limitedHistory(config, (await readShallow(repository)).size),
    ...(await drivers(repository, config)),
  ]
}

async function examineOperation({ repository }: World): Promise<readonly Finding[]> {
  if (repository.workTree === null) return [note('repository', 'it is bare: changes move the branch alone')]
  const running = await operationInProgress(repository.gitDir)
  const unmerged = await unmergedPaths(repository.door)
  const [first] = unmerged
  return [
    ...(running === null
      ? []
      : [
          problem(
            'repository',
            `a ${running.operation} waits for you (${running.mark}): nothing lands meanwhile (in-progress)`,
            `Finish it, or end it: ${running.end}.`,
          ),
        ]),
    ...(first === undefined
      ? []
      : [
          problem(
            'repository',
            `${unmerged.length} paths are unmerged, first ${quote(first)}: nothing lands meanwhile (unmerged)`,
            'Resolve them and `git add` them.',
          ),
        ]),
  ]
}

async function examineIndexLock(world: World): Promise<readonly Finding[]> {
  const { repository, clock } = world
  const index = resolveFile(join(repository.gitDir, 'index'))
  const text = readQuickly(`${index}.lock`)?.toString('latin1')
  if (text === undefined) return []
  const age = (await agesIn(join(index, '..'))).find((file) => `${file.name}` === 'index.lock')
  const seconds = age === undefined ? 0 : Math.max(0, Math.round((clock.now() - age.modifiedMs) / 1000))
  const owner = indexLockOwner(text)
  const isKnown = owner !== null && (await namesIn(join(galleyDirectory(repository), 'land'))).includes(owner)
  if (isKnown && isLanding(world))
    return [note('landing', `${index}.lock belongs to the landing ${owner}, which is going on`)]
  if (isKnown)
    return [problem('landing', `${index}.lock belongs to the landing ${owner}`, 'Run `galley recover`.')]
  return [
    problem(
      'repository',
      `${index}.lock stands there since ${seconds} seconds: a git command holds the index, or one was killed (locked)`,
      'Wait for that command. If no git command is running, remove the file.',
    ),
  ]
}

function limitedHistory(config: GitConfig, shallowCommits: number): readonly Finding[] {
  const promisor = [...config.keys()].find((key) => /^remote\..*\.promisor$/.test(key))
  return [
    ...(shallowCommits === 0
      ? []
      : [
          note(
            'repository',
            `the clone is shallow: commits beyond its ${shallowCommits} ends cannot be undone or verified`,
          ),
        ]),
    ...(promisor === undefined
      ? []
      : [note('repository', 'the clone is partial: galley fetches no missing blob by itself')]),
    ...(isTrue(config.get('core.sparsecheckout'))
      ? [note('repository', 'the checkout is sparse: files outside it change in the index alone')]
      : []),
  ]
}

/** Programs that git would run on contents of tracked paths, and what galley does there. */
async function drivers({ door }: Repository, config: GitConfig): Promise<readonly Finding[]> {
  const kinds = [
    ['filter', /^filter\.(.+)\.(?:clean|smudge|process)$/, FILTERED],
    ['diff', /^diff\.(.+)\.(?:command|textconv)$/, "galley's diffs do not use them"],
    ['merge', /^merge\.(.+)\.driver$/, 'galley merges as text, without them'],
  ] as const
  const findings: Finding[] = []
  for (const [kind, pattern, what] of kinds) {
    const names = new Set([...config.keys()].flatMap((key) => pattern.exec(key)?.[1] ?? []))
    const used: string[] = []
    for (const name of names) if (await isAttributeInUse(door, kind, name)) used.push(quote(name))
    if (used.length > 0) findings.push(note('repository', `${kind} drivers: ${used.join(', ')}; ${what}`))
  }
  return findings
}

const FILTERED = 'galley does not run them, and refuses paths behind them (filtered)'
