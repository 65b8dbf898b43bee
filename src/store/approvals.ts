import type { ObjectReader } from '../git/objects.ts'
import type { RefUpdate } from '../git/refs.ts'
import { type SignedText, splitSignature } from '../git/verify-tag.ts'
import type { Approval } from '../model/change.ts'
import { invariant } from '../model/error.ts'
import { type ChangeId, type TagId, tagId } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import { type Person, personLine } from '../model/person.ts'
import { readApprovalText } from '../model/read-record.ts'
import { approvalPrefix, approvalRef, type ChangeRefs } from './change-refs.ts'
import type { Store } from './open-store.ts'
import { writeObject } from './write-objects.ts'

/** What a tag object is made of, for whoever signs it. */
export interface TagText {
  readonly name: string
  readonly target: Approval['commit']
  readonly body: string
  readonly tagger: Person
}

/**
 * Writes an approval as an annotated tag object naming the commit. Leaves the object; its ref is created by whoever
 * appends the log event, in one transaction.
 *
 * @param sign - Makes the tag object with a signature; null = without one.
 */
export async function writeApproval(
  store: Store,
  approval: Omit<Approval, 'tag'>,
  who: Person,
  sign: ((text: TagText) => Promise<TagId>) | null,
): Promise<{ readonly tag: TagId; readonly ref: RefUpdate }> {
  const text: TagText = {
    name: `galley/${approval.change}/${approval.revision}`,
    target: approval.commit,
    body: `${JSON.stringify(approval, null, 1)}\n`,
    tagger: who,
  }
  const tag = await (sign ?? ((plain) => makeTag(store, plain)))(text)
  return {
    tag,
    ref: { ref: approvalRef(approval.change, approval.revision, tag), expected: null, next: tag },
  }
}

/** In the very form that is read back. That the target is a commit is known: its message is in the approval's hash. */
async function makeTag(store: Store, { name, target, body, tagger }: TagText): Promise<TagId> {
  const text = `object ${target}\ntype commit\ntag ${name}\ntagger ${personLine(tagger)}\n\n${body}`
  const bytes = Buffer.from(text, 'utf8')
  invariant(takeApart(bytes) !== null, 'an approval is written as it is read')
  return tagId(await writeObject(store, 'tag', bytes))
}

/** What the refs of a revision's approvals hold: read and checked, or why one cannot be believed. */
export type ApprovalRecord = FoundApproval | BrokenApproval

export interface FoundApproval {
  readonly kind: 'approval'
  readonly approval: Approval
  /** null = it carries no signature. That it carries one says nothing: see `flow/verify-approval.ts`. */
  readonly signed: SignedText | null
  /** When it was made, as the tag says; milliseconds since the epoch. */
  readonly taggedMs: number
}

export interface BrokenApproval {
  readonly kind: 'broken'
  readonly ref: string
  readonly reason: string
}

/** Reads every approval of one revision from its tag object. Nothing but the object is believed. */
export async function readApprovals(
  reader: ObjectReader,
  refs: Pick<ChangeRefs, 'rows'>,
  id: ChangeId,
  revision: number,
): Promise<readonly ApprovalRecord[]> {
  const rows = refs.rows.filter((row) => row.ref.startsWith(approvalPrefix(id, revision)))
  return Promise.all(rows.map((row) => readApproval(reader, row.ref, row.object, { id, revision })))
}

/** Reads one approval, held against what its ref says: the tag object's name, the change and the revision. */
export async function readApproval(
  reader: ObjectReader,
  ref: string,
  object: string,
  expected: { readonly id: ChangeId; readonly revision: number },
): Promise<ApprovalRecord> {
  const broken = (reason: string): ApprovalRecord => ({ kind: 'broken', ref, reason })
  if (!ref.endsWith(`/${object.slice(0, 12)}`))
    return broken('the ref is not named after the tag object it holds')
  const info = await reader.info(object)
  if (info?.type !== 'tag') return broken('the ref does not hold a tag object')
  if (info.size > limits.approvalMaxBytes) return broken(`the tag object has ${info.size} bytes`)
  const found = await reader.contents(object)
  if (found === null) return broken('the ref does not hold a tag object')
  const parts = takeApart(found.bytes)
  const body = parts === null ? null : readApprovalText(parts.body)
  if (parts === null || body === null) return broken('the tag does not hold an approval')
  if (body.commit !== parts.commit || body.change !== expected.id || body.revision !== expected.revision) {
    return broken('the tag speaks of another commit or change than its place says')
  }
  const signature = splitSignature(found.bytes, parts.end)
  if (signature.kind === 'other') return broken('something other than an SSH signature follows the approval')
  const signed = signature.kind === 'ssh' ? signature.signed : null
  return { kind: 'approval', approval: { ...body, tag: tagId(object) }, signed, taggedMs: parts.taggedMs }
}

/** The header as git writes it, with no line more: what is not known could mean something to another reader. */
const HEADER =
  /^object ([0-9a-f]+)\ntype commit\ntag [^\n]+\ntagger [^\n<>]*<[^\n<>]*> (\d{1,12}) [+-]\d{4}\n\n/

/** A signature may follow the JSON; the JSON ends with its closing brace on a line of its own. */
function takeApart(bytes: Buffer) {
  // As latin1 every byte is one character, so that places in the text are places in the object.
  const text = bytes.toString('latin1')
  const header = HEADER.exec(text)
  if (header === null) return null
  const close = text.indexOf('\n}\n', header[0].length)
  if (close === -1) return null
  const end = close + 3
  return {
    commit: header[1] ?? '',
    taggedMs: Number(header[2]) * 1000,
    body: bytes.toString('utf8', header[0].length, end),
    end,
  }
}
