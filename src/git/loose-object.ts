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
  const bytes = Buffer.concat([headerOf(type, content.length), content])
  const id = createHash(format).update(bytes).digest('hex')
  return { id, path: loosePath(id), bytes }
}

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag'

const headerOf = (type: ObjectType, size: number): Buffer => Buffer.from(`${type} ${size}\0`, 'latin1')

export const objectIdOf = (type: ObjectType, content: Uint8Array, format: ObjectFormat): string =>
  createHash(format).update(headerOf(type, content.length)).update(content).digest('hex')

/** Where git keeps an object in a file of its own, from its directory of objects. */
export const loosePath = (id: string): string => `${id.slice(0, 2)}/${id.slice(2)}`
