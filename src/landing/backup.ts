import { type FileChange, openImporter } from '../git/fast-import.ts'
import type { ObjectReader } from '../git/objects.ts'
import { updateRefs } from '../git/refs.ts'
import { refuse } from '../model/error.ts'
import { type CommitId, treeId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { backupRef, printCommand } from '../store/backups.ts'
import { keepObjects } from '../store/keep-objects.ts'
import { readStanding } from '../sys/file-key.ts'
import { type PathFacts, standsAlong } from './decide-path.ts'
import type { LandingPlan } from './preflight.ts'
import type { LandRequest } from './request.ts'

/**
 * Keeps what the user had in the files that are merged, or whose uncommitted work the change takes along, in
 * the store: a commit that holds the working files under `working/`, the index's blobs under `index/` and the
 * results of merges under `merged/`. Nothing when there is neither.
 *
 * @returns The ref's name, for the report.
 */
export async function backUp(
  request: LandRequest,
  plan: LandingPlan,
  reader: ObjectReader,
): Promise<readonly string[]> {
  const changes: FileChange[] = keptPlaces(plan).flatMap((kept) => bytesOf(plan, kept))
  for (const [key, { bytes }] of plan.merged) {
    const path = key.slice(key.indexOf(':') + 1)
    const facts = plan.facts.get(path)
    if (key.startsWith('index:')) {
      if (facts?.index)
        changes.push({ kind: 'blob', path: `index/${path}`, mode: '100644', blob: facts.index.id })
      continue
    }
    const mine = readStanding(plan.workTree, path, limits.fileMaxBytes)
    if (mine !== null) changes.push({ kind: 'bytes', path: `working/${path}`, mode: '100644', bytes: mine })
    changes.push({ kind: 'bytes', path: `merged/${path}`, mode: '100644', bytes })
  }
  if (changes.length === 0) return []
  const seconds = Math.floor(request.clock.now() / 1000)
  const who = { name: 'galley', email: 'galley@localhost', date: `${seconds} +0000` }
  const message = `What stood uncommitted in files that ${request.label} was landed in or beneath\n`
  const importer = openImporter(request.store, { asPack: true })
  const { commit } = await importer.commit({
    parent: null,
    author: who,
    committer: who,
    message,
    changes,
    fromNothing: true,
  })
  await importer.finish()
  await keepObjects(
    { galleyDir: request.galleyDir, door: request.store },
    reader,
    await allOf(reader, commit),
  )
  const name = Buffer.from(request.clock.random(4)).toString('hex')
  const ref = backupRef(request.label, seconds, name)
  if (await updateRefs(request.store, [{ ref, expected: null, next: commit }], 'backup before landing'))
    return [ref]
  return refuse('busy', `the backup ${ref} could not be made`, { ref })
}

/** A commit of a backup with all that it holds. */
async function allOf(reader: ObjectReader, commit: CommitId): Promise<readonly string[]> {
  const found: string[] = [commit]
  const trees = [await reader.commitTree(commit)]
  for (let tree = trees.pop(); tree !== undefined; tree = trees.pop()) {
    found.push(tree)
    for (const { mode, id } of await reader.tree(tree)) {
      if (mode === '040000') trees.push(treeId(id))
      else found.push(id)
    }
  }
  return found
}

/** A place with work of the user's that the change takes along and the landing writes over. */
interface Kept {
  readonly where: 'working' | 'index'
  readonly facts: PathFacts
}

/** A file that stays as it is holds the new version already. */
function keptPlaces(plan: LandingPlan): readonly Kept[] {
  const written = new Set(plan.files.map((file) => file.path))
  return [...plan.facts.values()].filter(standsAlong).flatMap((facts) => {
    const { path, index, base, next, standing } = facts
    const ids = [base?.id, next?.id, ...(standing.kind === 'file' ? [standing.id] : [])]
    const isStaged = index !== null && !index.intentToAdd && !ids.includes(index.id)
    return [
      ...(written.has(path) && standing.kind === 'file' ? [{ where: 'working', facts } as const] : []),
      ...(isStaged ? [{ where: 'index', facts } as const] : []),
    ]
  })
}

function bytesOf(plan: LandingPlan, { where, facts }: Kept): readonly FileChange[] {
  const path = `${where}/${facts.path}`
  if (where === 'index') {
    return facts.index === null ? [] : [{ kind: 'blob', path, mode: '100644', blob: facts.index.id }]
  }
  const bytes = readStanding(plan.workTree, facts.path, limits.fileMaxBytes)
  return bytes === null ? [] : [{ kind: 'bytes', path, mode: '100644', bytes }]
}

/** How to get back what was kept of the files that a change took along. */
export function keptRemarks(
  request: LandRequest,
  plan: LandingPlan,
  [ref]: readonly string[],
): readonly string[] {
  if (ref === undefined) return []
  return keptPlaces(plan).map(({ where, facts: { path } }) => {
    const what = where === 'index' ? 'what was staged of it' : 'the file as it was'
    const command = printCommand(request.store.gitDir, ref, where, path)
    return takenRemark(path, what, command)
  })
}

/** What a landing says of uncommitted work that the change took along: the command prints what was there. */
export const takenRemark = (path: string, what: string, command: string): string =>
  `${path} had uncommitted work, which the change took along; ${what} is printed by: ${command}`
