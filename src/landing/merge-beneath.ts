import { join } from 'node:path'
import { mergeFiles } from '../git/merge-file.ts'
import type { ObjectReader } from '../git/objects.ts'
import { invariant, refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { writePassing } from '../sys/durable-files.ts'
import { blobHash, type HashName, readStanding } from '../sys/file-key.ts'
import type { Problem } from './decide-path.ts'
import { Raced } from './place-files.ts'
import { type MergedContent, mergeKey, type OpenMerge } from './plan.ts'
import type { RawVersions } from './raw-versions.ts'
import type { LandRequest } from './request.ts'

export interface MergeOutcome {
  readonly merged: MergedContent
  readonly problems: readonly Problem[]
}

/**
 * Makes the three-way merges that let a change land beneath uncommitted work: on the bytes of the working file, and on the blobs of
 * the index. Git decides. Writes only passing files in `scratch`.
 */
export async function mergeAll(
  request: LandRequest,
  workTree: string,
  merges: readonly OpenMerge[],
  raw: ReadonlyMap<string, RawVersions>,
  reader: ObjectReader,
  scratch: string,
): Promise<MergeOutcome> {
  const hash = request.repository.objectFormat
  const merged = new Map<string, { id: string; bytes: Buffer }>()
  const problems: Problem[] = []
  for (const merge of merges) {
    const sides = await sidesOf(merge, { workTree, hash, reader }, raw.get(merge.path))
    const files = ['mine', 'base', 'next'].map((name) => join(scratch, name)) as [string, string, string]
    for (const [i, file] of files.entries()) await writePassing(file, sides[i] ?? Buffer.alloc(0))
    const outcome = await mergeFiles(request.repository.door, files)
    if (outcome.kind === 'clean') {
      merged.set(mergeKey(merge), {
        id: blobHash(outcome.bytes, request.repository.objectFormat),
        bytes: outcome.bytes,
      })
    } else {
      problems.push(problemOf(merge, outcome.kind === 'conflict' ? outcome.lines : []))
    }
  }
  return { merged, problems }
}

function problemOf(merge: OpenMerge, lines: NonNullable<Problem['lines']>): Problem {
  const what = merge.where === 'index' ? 'staged changes' : 'uncommitted changes'
  const where =
    lines.length === 0 ? 'that cannot be merged with the change' : 'at lines that the change touches'
  return {
    code: 'overlaps-uncommitted',
    path: merge.path,
    message: `${merge.path} has ${what} ${where}`,
    lines,
  }
}

async function sidesOf(
  merge: OpenMerge,
  { workTree, hash, reader }: { workTree: string; hash: HashName; reader: ObjectReader },
  raw: RawVersions | undefined,
): Promise<[mine: Buffer, base: Buffer, next: Buffer]> {
  if (merge.where === 'index') {
    return [
      await blobBytes(reader, merge.mine),
      await blobBytes(reader, merge.base),
      await blobBytes(reader, merge.next),
    ]
  }
  invariant(raw?.baseBytes && raw.nextBytes, 'a merge has a base and another side')
  const mine = readStanding(workTree, merge.path, limits.fileMaxBytes)
  if (mine === null || blobHash(mine, hash) !== merge.mine)
    throw new Raced(merge.path, 'changed while the change was landing')
  const read = async (source: NonNullable<RawVersions['baseBytes']>) =>
    source.kind === 'bytes' ? source.bytes : blobBytes(reader, source.id)
  return [mine, await read(raw.baseBytes), await read(raw.nextBytes)]
}

async function blobBytes(reader: ObjectReader, id: string): Promise<Buffer> {
  const found = await reader.contents(id)
  return found?.bytes ?? refuse('stale', `the blob ${id} is not in the repository any more`, { blob: id })
}
