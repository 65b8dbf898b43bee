import { refuse } from '../model/error.ts'
import { type CommitId, commitId, isObjectId, type TreeId, treeId } from '../model/ids.ts'
import type { Person } from '../model/person.ts'
import type { ObjectReader } from './objects.ts'

export interface ParsedCommit {
  readonly tree: TreeId
  readonly parents: readonly CommitId[]
  readonly author: Person
  readonly committer: Person
  readonly message: string
}

/**
 * Reads and parses one commit object.
 *
 * @throws GalleyError `stale`, if it is not there; `unsupported-repository`, if it is none that git would make.
 */
export async function parseCommit(reader: ObjectReader, id: CommitId): Promise<ParsedCommit> {
  const found = await reader.contents(id)
  if (found === null || found.object.type !== 'commit')
    refuse('stale', `the commit ${id} is not in the repository`, { commit: id })
  const text = found.bytes.toString('utf8')
  const split = text.indexOf('\n\n')
  const header = split === -1 ? text : text.slice(0, split)
  const tree = /^tree ([0-9a-f]+)$/m.exec(header)?.[1] ?? ''
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((m) => m[1] ?? '')
  if (![tree, ...parents].every(isObjectId)) refuseOdd(id, 'tree or parent')
  return {
    tree: treeId(tree),
    parents: parents.map(commitId),
    author: personOf(header, 'author', id),
    committer: personOf(header, 'committer', id),
    message: split === -1 ? '' : text.slice(split + 2),
  }
}

function personOf(header: string, role: 'author' | 'committer', id: CommitId): Person {
  const found = new RegExp(`^${role} (.*?) ?<([^>]*)> (\\d+ [+-]\\d{4})$`, 'm').exec(header)
  if (found === null) refuseOdd(id, role)
  return { name: found[1] ?? '', email: found[2] ?? '', date: found[3] ?? '' }
}

/** Anybody can write such a commit and push it. */
function refuseOdd(id: CommitId, what: string): never {
  refuse(
    'unsupported-repository',
    `the commit ${id} names no ${what} as git writes it`,
    { commit: id },
    'See `git fsck`.',
  )
}
