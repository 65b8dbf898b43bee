import { git } from '../git/door.ts'
import type { Person } from '../git/fast-import.ts'
import type { ObjectReader } from '../git/objects.ts'
import type { RefUpdate } from '../git/refs.ts'
import type { Approval } from '../model/change.ts'
import { type ChangeId, type TagId, tagId } from '../model/ids.ts'
import { readApprovalText } from '../model/read-record.ts'
import { approvalPrefix, approvalRef, type ChangeRefs } from './change-refs.ts'
import type { Store } from './open-store.ts'

/**
 * Writes an approval as an annotated tag object naming the commit. Leaves the object; its ref is created by whoever
 * appends the log event, in one transaction.
 */
export async function writeApproval(
  store: Store,
  approval: Omit<Approval, 'tag'>,
  who: Person,
): Promise<{ readonly tag: TagId; readonly ref: RefUpdate }> {
  const text = [
    `object ${approval.commit}`,
    'type commit',
    `tag galley/${approval.change}/${approval.revision}`,
    `tagger ${who.name} <${who.email}> ${who.date}`,
    '',
    `${JSON.stringify(approval, null, 1)}`,
    '',
  ].join('\n')
  const result = await git(store.door, { args: ['mktag'], input: text })
  const tag = tagId(result.stdout.toString('latin1').trim())
  return {
    tag,
    ref: { ref: approvalRef(approval.change, approval.revision, tag), expected: null, next: tag },
  }
}

/** What the refs of a revision's approvals hold: read and checked, or why one cannot be believed. */
export type ApprovalRecord =
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'broken'; readonly ref: string; readonly reason: string }

/** Reads every approval of one revision from its tag object. Nothing but the object is believed. */
export async function readApprovals(
  reader: ObjectReader,
  refs: ChangeRefs,
  id: ChangeId,
  revision: number,
): Promise<readonly ApprovalRecord[]> {
  const rows = refs.rows.filter((row) => row.ref.startsWith(approvalPrefix(id, revision)))
  return Promise.all(rows.map((row) => readApproval(reader, row.ref, row.object, { id, revision })))
}

async function readApproval(
  reader: ObjectReader,
  ref: string,
  object: string,
  expected: { readonly id: ChangeId; readonly revision: number },
): Promise<ApprovalRecord> {
  const broken = (reason: string): ApprovalRecord => ({ kind: 'broken', ref, reason })
  if (!ref.endsWith(`/${object.slice(0, 12)}`))
    return broken('the ref is not named after the tag object it holds')
  const found = await reader.contents(object)
  if (found?.object.type !== 'tag') return broken('the ref does not hold a tag object')
  const text = found.bytes.toString('utf8')
  const split = text.indexOf('\n\n')
  const tagged = /^object ([0-9a-f]+)\ntype commit\n/.exec(text)?.[1]
  const body = parseBody(text.slice(split + 2))
  if (body === null || tagged === undefined) return broken('the tag does not hold an approval')
  if (body.commit !== tagged || body.change !== expected.id || body.revision !== expected.revision) {
    return broken('the tag speaks of another commit or change than its place says')
  }
  return { kind: 'approval', approval: { ...body, tag: tagId(object) } }
}

/** A signature may follow the JSON; the JSON ends with its closing brace on a line of its own. */
function parseBody(text: string): Omit<Approval, 'tag'> | null {
  const end = text.indexOf('\n}\n')
  return readApprovalText(end === -1 ? text : text.slice(0, end + 2))
}
