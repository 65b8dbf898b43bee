import { join } from 'node:path'
import { mergeFiles } from '../git/merge-file.ts'
import type { ObjectReader } from '../git/objects.ts'
import { limits } from '../model/limits.ts'
import { blobHash, type HashName, readStanding } from '../sys/file-key.ts'
import { writePassing } from '../sys/small-files.ts'
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
 * Makes the three-way merges that let a change land beneath uncommitted work: on the bytes of the working
 * file, and on the blobs of the index. Git decides. Writes only passing files in `scratch`.
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
    if (sides === null) {
      problems.push(problemOf(merge, []))
      continue
    }
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

/** Null when one side cannot be had: too large, or a version of the working file that nobody kept. */
async function sidesOf(
  merge: OpenMerge,
  { workTree, hash, reader }: { workTree: string; hash: HashName; reader: ObjectReader },
  raw: RawVersions | undefined,
): Promise<readonly Buffer[] | null> {
  const read = async (source: RawVersions['baseBytes']): Promise<Buffer | null> => {
    if (source === null || source.kind === 'bytes') return source?.bytes ?? null
    return (await reader.contents(source.id))?.bytes ?? null
  }
  if (merge.where === 'index') {
    const ids = [merge.mine, merge.base, merge.next]
    return allOrNull(await Promise.all(ids.map((id) => read({ kind: 'blob', id }))))
  }
  const mine = readStanding(workTree, merge.path, limits.fileMaxBytes)
  if (mine !== null && blobHash(mine, hash) !== merge.mine)
    throw new Raced(merge.path, 'changed while the change was landing')
  return allOrNull([mine, await read(raw?.baseBytes ?? null), await read(raw?.nextBytes ?? null)])
}

const allOrNull = (sides: readonly (Buffer | null)[]): readonly Buffer[] | null =>
  sides.every((side) => side !== null) ? sides : null
