import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../model/ids.ts'

export interface LooseObject {
  readonly id: string
  readonly path: string
  /** What the file holds, before it is deflated. */
  readonly bytes: Buffer
}

/** An object as git keeps it in a file of its own (gitformat-loose). */
export function looseObject(type: 'commit', content: Uint8Array, format: ObjectFormat): LooseObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`, 'latin1'), content])
  const id = createHash(format).update(bytes).digest('hex')
  return { id, path: loosePath(id), bytes }
}

/** Where git keeps an object in a file of its own, from its directory of objects. */
export const loosePath = (id: string): string => `${id.slice(0, 2)}/${id.slice(2)}`
