/**
 * Ids as distinct types: a tree id handed over where a commit id is wanted does not compile.
 * They are built from text in one place each, where that text was checked.
 */
declare const brand: unique symbol
type Brand<T, B extends string> = T & { readonly [brand]: B }

export type ObjectFormat = 'sha1' | 'sha256'

export type BlobId = Brand<string, 'BlobId'>
export type TreeId = Brand<string, 'TreeId'>
export type CommitId = Brand<string, 'CommitId'>
export type TagId = Brand<string, 'TagId'>
/** A full ref name, `refs/…`, or `HEAD` for a detached head. */
export type RefName = Brand<string, 'RefName'>
/** `g` and nine characters of lower-case Crockford base32. */
export type ChangeId = Brand<string, 'ChangeId'>
/** Lower-case hex SHA-256 of the canonical manifest. */
export type Digest = Brand<string, 'Digest'>

const HEX = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const CHANGE_ID = /^g[0-9abcdefghjkmnpqrstvwxyz]{9}$/

export const isObjectId = (text: string): boolean => HEX.test(text)
export const isChangeId = (text: string): boolean => CHANGE_ID.test(text)

function objectId(text: string, what: string): string {
  if (!HEX.test(text)) throw new Error(`BUG: not a ${what} id: ${JSON.stringify(text.slice(0, 80))}`)
  return text
}

export const blobId = (text: string): BlobId => objectId(text, 'blob') as BlobId
export const treeId = (text: string): TreeId => objectId(text, 'tree') as TreeId
export const commitId = (text: string): CommitId => objectId(text, 'commit') as CommitId
export const tagId = (text: string): TagId => objectId(text, 'tag') as TagId

export function changeId(text: string): ChangeId {
  if (!CHANGE_ID.test(text)) throw new Error(`BUG: not a change id: ${JSON.stringify(text.slice(0, 80))}`)
  return text as ChangeId
}

/** Number of hex digits of an id in this object format. */
export const idLength = (format: ObjectFormat): number => (format === 'sha1' ? 40 : 64)

/** The all-zero id: "absent" in manifests, "must not exist" in ref updates. */
export const zeroId = (format: ObjectFormat): string => '0'.repeat(idLength(format))

export const isZeroId = (id: string): boolean => /^0+$/.test(id)
