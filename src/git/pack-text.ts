import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../model/ids.ts'
import { deflated } from '../sys/deflated-file.ts'
import type { ObjectType } from './loose-object.ts'

const TYPES: Readonly<Record<ObjectType, number>> = { commit: 1, tree: 2, blob: 3, tag: 4 }
const VERSION = 2

/** Whole objects as one pack, for `index-pack`. @see gitformat-pack(5) */
export function packOf(
  objects: readonly { readonly type: ObjectType; readonly content: Uint8Array }[],
  format: ObjectFormat,
): Buffer {
  const header = Buffer.from('PACK\0\0\0\0\0\0\0\0', 'latin1')
  header.writeUInt32BE(VERSION, 4)
  header.writeUInt32BE(objects.length, 8)
  const parts = [header, ...objects.flatMap(({ type, content }) => entryOf(TYPES[type], content))]
  const hash = createHash(format)
  for (const part of parts) hash.update(part)
  return Buffer.concat([...parts, hash.digest()])
}

/** Type and the size's lowest four bits, then seven bits in each byte; then the content. */
function entryOf(type: number, content: Uint8Array): readonly Buffer[] {
  const bytes: number[] = []
  let rest = Math.floor(content.length / 16)
  let byte = (type << 4) | (content.length % 16)
  while (rest > 0) {
    bytes.push(byte | 0x80)
    byte = rest % 128
    rest = Math.floor(rest / 128)
  }
  bytes.push(byte)
  return [Buffer.from(bytes), deflated(content)]
}
