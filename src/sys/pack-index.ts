import { closeSync, openSync, readSync } from 'node:fs'
import { isAbsent } from '../model/errno.ts'

const HEADER_BYTES = 8
const FANOUT_BYTES = 256 * 4
const SIGNATURE = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2])

/**
 * Tells which objects a pack holds, by its index (gitformat-pack, version 2), without git: only the part of the ids that begin with the
 * same byte is read. Keeps no file open. An index that is gone, or of another version, holds nothing.
 */
export class PackIndex {
  private readonly file: string
  private readonly idBytes: number
  private fanout: Buffer | null = null
  private readonly ids = new Map<number, Buffer>()

  constructor(file: string, idBytes: number) {
    this.file = file
    this.idBytes = idBytes
  }

  has(id: string): boolean {
    const wanted = Buffer.from(id, 'hex')
    const ids = this.beginningWith(wanted[0] ?? 0)
    let low = 0
    let high = ids.length / this.idBytes
    while (low < high) {
      const middle = (low + high) >> 1
      const order = ids.subarray(middle * this.idBytes, (middle + 1) * this.idBytes).compare(wanted)
      if (order === 0) return true
      if (order < 0) low = middle + 1
      else high = middle
    }
    return false
  }

  private beginningWith(byte: number): Buffer {
    const known = this.ids.get(byte)
    if (known !== undefined) return known
    this.fanout ??= this.readFanout()
    const from = byte === 0 ? 0 : this.fanout.readUInt32BE((byte - 1) * 4)
    const count = this.fanout.readUInt32BE(byte * 4) - from
    const start = HEADER_BYTES + FANOUT_BYTES + from * this.idBytes
    const ids = count === 0 ? Buffer.alloc(0) : readPart(this.file, start, count * this.idBytes)
    this.ids.set(byte, ids)
    return ids
  }

  private readFanout(): Buffer {
    const head = readPart(this.file, 0, HEADER_BYTES + FANOUT_BYTES)
    const isKnown =
      head.length === HEADER_BYTES + FANOUT_BYTES && head.subarray(0, HEADER_BYTES).equals(SIGNATURE)
    return isKnown ? head.subarray(HEADER_BYTES) : Buffer.alloc(FANOUT_BYTES)
  }
}

/** Shorter where the file ends before, or is gone. */
function readPart(file: string, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  try {
    const descriptor = openSync(file, 'r')
    try {
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (isAbsent(error)) return Buffer.alloc(0)
    throw error
  }
}
