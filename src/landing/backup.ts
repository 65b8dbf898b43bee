import { type FileChange, openImporter } from '../git/fast-import.ts'
import { keepInStore } from '../git/promote.ts'
import { updateRefs } from '../git/refs.ts'
import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { readStanding } from '../sys/file-key.ts'
import type { LandingPlan } from './preflight.ts'
import type { LandRequest } from './request.ts'

/**
 * Keeps what the user had in the files that are merged, in the store: a commit that holds the working files
 * under `working/`, the index's blobs under `index/` and the results under `merged/`. Nothing when there is
 * no merge.
 *
 * @returns The ref's name, for the report.
 */
export async function backUp(request: LandRequest, plan: LandingPlan): Promise<readonly string[]> {
  if (plan.merged.size === 0) return []
  const changes: FileChange[] = []
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
  await keepInStore(
    request.store,
    changes.flatMap((change) => (change.kind === 'blob' ? [change.blob] : [])),
  )
  const seconds = Math.floor(request.clock.now() / 1000)
  const who = { name: 'galley', email: 'galley@localhost', date: `${seconds} +0000` }
  const message = `What stood uncommitted in files that ${request.label} was landed beneath\n`
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
  const name = Buffer.from(request.clock.random(4)).toString('hex')
  const ref = `refs/galley/backup/${request.label}/${seconds}-${name}`
  if (await updateRefs(request.store, [{ ref, expected: null, next: commit }], 'backup before landing'))
    return [ref]
  return refuse('busy', `the backup ${ref} could not be made`, { ref })
}
