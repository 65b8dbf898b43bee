import { type GitDoor, git } from './door.ts'
import type { GitObject, ObjectReader } from './objects.ts'

/** Objects read at one go are told apart by size first, so that a single huge one does not fill the memory. */
const CHUNK_BYTES = 32 * 1024 * 1024

export interface ReadObject {
  readonly object: GitObject
  readonly bytes: Buffer
}

/**
 * Reads many objects at once: two processes, where an object reader would be asked and waited for one by one.
 *
 * @param ids - Full ids. Those that are not there, or are larger than `maxBytes`, are left out.
 */
export async function readBatch(
  door: GitDoor,
  ids: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, ReadObject>> {
  const found = new Map<string, ReadObject>()
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return found
  await readSmall(door, await check(door, wanted), maxBytes, found)
  return found
}

/** Id, type and size of each; what there is not has no size. */
async function check(door: GitDoor, names: readonly string[]): Promise<readonly (readonly string[])[]> {
  const checked = await git(door, { args: ['cat-file', '--batch-check'], input: lines(names) })
  const rows = checked.stdout.toString('latin1').split('\n').slice(0, names.length)
  return rows.map((row) => /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(row)?.slice(1) ?? [])
}

async function readSmall(
  door: GitDoor,
  rows: readonly (readonly string[])[],
  maxBytes: number,
  found: Map<string, ReadObject>,
): Promise<void> {
  const small = new Map(
    rows.flatMap((row) => {
      const [id, , size] = row
      return id !== undefined && Number(size) <= maxBytes ? [[id, row] as const] : []
    }),
  )
  for (const chunk of chunksOf([...small.values()])) {
    const result = await git(door, { args: ['cat-file', '--batch'], input: lines(chunk) })
    takeApart(result.stdout, found)
  }
}

/**
 * Reads many objects by any names (`<id>:<path>`), in the order given: two processes.
 *
 * @returns null where there is no such object, or it is larger than `maxBytes`.
 */
export async function readNamed(
  door: GitDoor,
  names: readonly string[],
  maxBytes: number,
): Promise<readonly (ReadObject | null)[]> {
  if (names.length === 0) return []
  const rows = await check(door, names)
  const found = new Map<string, ReadObject>()
  await readSmall(door, rows, maxBytes, found)
  return rows.map(([id = '']) => found.get(id) ?? null)
}

const lines = (ids: readonly string[]): string => ids.map((id) => `${id}\n`).join('')

function chunksOf(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const chunks: string[][] = [[]]
  let size = 0
  for (const [id = '', , bytes = '0'] of rows) {
    size += Number(bytes)
    if (size > CHUNK_BYTES) {
      chunks.push([])
      size = Number(bytes)
    }
    chunks.at(-1)?.push(id)
  }
  return chunks.filter((chunk) => chunk.length > 0)
}

/** `<id> <type> <size>LF<bytes>LF` again and again. */
function takeApart(output: Buffer, found: Map<string, ReadObject>): void {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at)
    const [id = '', type = '', size = ''] = output.toString('latin1', at, end).split(' ')
    const length = Number(size)
    if (type === 'missing' || !Number.isInteger(length)) return
    const bytes = output.subarray(end + 1, end + 1 + length)
    found.set(id, { object: { id, type: type as GitObject['type'], size: length }, bytes })
    at = end + 1 + length + 1
  }
}

/** A reader that has some objects at hand, and asks another for the rest. */
export const withObjects = (reader: ObjectReader, known: ReadonlyMap<string, ReadObject>): ObjectReader => ({
  ...reader,
  info: async (id) => known.get(id)?.object ?? reader.info(id),
  contents: async (id) => known.get(id) ?? reader.contents(id),
})
