import { type ConvertedPath, declaredEncoding, type PathConversion } from '../git/attributes.ts'
import { cleanBytes, smudgeBlob } from '../git/convert.ts'
import { utf8OrNull } from '../git/diff-index.ts'
import { GalleyError, refuse } from '../model/error.ts'
import { quote } from '../policy/quote.ts'
import { keepBytes } from '../store/keep-objects.ts'
import type { World } from './world.ts'

export const isUtf8 = (bytes: Uint8Array): boolean => utf8OrNull(bytes) !== null

/** In which encoding a file stands, where its edits are made in its text. */
export interface TextEncoding {
  readonly name: string
  /** `working-tree-encoding`: the tree holds UTF-8. The attribute `encoding`: it holds the very bytes. */
  readonly inTree: 'utf-8' | 'same'
}

export interface DecodedFile {
  readonly encoding: TextEncoding
  /** The text as UTF-8, with its line endings as they stand. */
  readonly text: Buffer
}

/**
 * The text of a file whose encoding is declared; null = it is edited by its bytes. Only where the text leads back to the very bytes, so that
 * what no edit names stays as it is.
 *
 * @throws GalleyError `not-utf8`, where the bytes are not in the `working-tree-encoding`, which git could not store either.
 */
export async function decodeFile(
  world: World,
  path: string,
  bytes: Buffer,
  conversion: PathConversion | null,
): Promise<DecodedFile | null> {
  const encoding = await encodingOf(world, path, bytes, conversion)
  if (encoding === null) return null
  try {
    const text = await convert(world, path, encoding.name, bytes)
    return (await encodeOrNull(world, path, encoding.name, text))?.equals(bytes) ? { encoding, text } : null
  } catch (error) {
    if (encoding.inTree === 'same' && error instanceof GalleyError && error.code === 'not-utf8') return null
    throw error
  }
}

/** Of a path that nothing stands at yet. */
export const encodingOfNew = (conversion: PathConversion | null): TextEncoding | null =>
  conversion?.kind === 'converted' && conversion.encoding !== null
    ? { name: conversion.encoding, inTree: 'utf-8' }
    : null

async function encodingOf(
  world: World,
  path: string,
  bytes: Buffer,
  conversion: PathConversion | null,
): Promise<TextEncoding | null> {
  const declared = encodingOfNew(conversion)
  if (declared !== null || isUtf8(bytes) || conversion !== null) return declared
  const name = await declaredEncoding(world.repository, path)
  return name === null ? null : { name, inTree: 'same' }
}

/**
 * The bytes of a text in an encoding. A result that is no UTF-8 text was given as bytes (base64), which are in the encoding already.
 *
 * @throws GalleyError `not-utf8`, naming the encoding, where it cannot hold the text.
 */
export async function encodeText(
  world: World,
  path: string,
  { name }: TextEncoding,
  text: Uint8Array,
): Promise<Buffer> {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  if (!isUtf8(bytes) || bytes.includes(0)) return bytes
  const encoded = await encodeOrNull(world, path, name, bytes)
  if (encoded !== null) return encoded
  const message = `${quote(path)} is in ${name}, which cannot hold all of the new text`
  return refuse('not-utf8', message, { path, encoding: name }, `Use characters that ${name} has.`)
}

const byEncoding = (encoding: string): ConvertedPath => ({
  kind: 'converted',
  lineEndings: { kind: 'as-is' },
  encoding,
  ident: false,
  filter: null,
})

/** To UTF-8, by git's own conversion. */
async function convert(world: World, path: string, name: string, bytes: Uint8Array): Promise<Buffer> {
  const { door } = await world.store()
  const blob = await cleanBytes(world.repository, door, path, bytes, { conversion: byEncoding(name) })
  const found = await (await world.reader()).contents(blob)
  if (found === null) throw new Error(`BUG: the blob ${blob} was written and is not there`)
  return found.bytes
}

/** null = the encoding cannot hold the text: git would write it as it is then. */
async function encodeOrNull(world: World, path: string, name: string, text: Buffer): Promise<Buffer | null> {
  const store = await world.store()
  const blob = await keepBytes(store, text)
  const encoded = await smudgeBlob(world.repository, store.door, path, blob, { conversion: byEncoding(name) })
  try {
    return (await convert(world, path, name, encoded)).equals(text) ? encoded : null
  } catch (error) {
    if (error instanceof GalleyError && error.code === 'not-utf8') return null
    throw error
  }
}
