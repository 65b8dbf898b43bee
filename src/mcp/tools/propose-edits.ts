import * as z from 'zod'
import { type Proposed, propose } from '../../flow/propose.ts'
import { changeDetail, changeLine, changeValue, diffLink, nextFor } from '../change-words.ts'
import { editsSchema } from '../edits-schema.ts'
import { changeId, repository } from '../form.ts'
import { type Caller, type ToolAnswer, type ToolCall, tool } from '../tool.ts'

/** Another part judges the batch, and names every fault with its place. */
const batchKeys = { repository, edits: z.unknown() }

const output = {
  change: {
    type: 'object',
    description: 'The staged change: id, revision, state, digest, files with their new blob ids.',
  },
  repeated: { type: 'boolean', description: 'The very same batch was proposed before; this is that change.' },
  results: {
    type: 'array',
    description: 'Each edit: the lines that it changed, as they were and as they are.',
  },
} as const

const annotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const

export const proposeEdits = tool({
  name: 'propose_edits',
  title: 'Propose edits',
  description:
    "Stages edits as one change: a commit aside, checked, for a person (or a rule of theirs) to approve. All edits apply, or none; nothing of the user moves until land_change. Edits of one call refer to the files as they are now. Answers with the change's id, or with what repairs the call.",
  input: z.looseObject(batchKeys),
  schema: editsSchema({}),
  output,
  annotations: { ...annotations, idempotentHint: true },
  run: (call) => stage(call, {}),
})

export const reviseChange = tool({
  name: 'revise_change',
  title: 'Revise a change',
  description:
    'Stages a new revision of a change that has not landed: after a rejection, a comment, a failed check or a conflict. The edits are those of the whole change, made on the files as they are now, not on the earlier revision.',
  input: z.looseObject({ ...batchKeys, id: changeId }),
  schema: editsSchema({ id: { type: 'string', description: 'Id of the change to revise.' } }),
  output,
  annotations: { ...annotations, idempotentHint: false },
  run: (call) => stage(call, { revise: call.input.id }),
})

async function stage(
  { input, caller, use }: ToolCall<Readonly<Record<string, unknown>>>,
  how: { readonly revise?: string },
): Promise<ToolAnswer> {
  const { repository: named, id: _, ...batch } = input
  const whole = { version: 1, ...batch, agent: agentOf(batch['agent'], caller) }
  const bytes = Buffer.from(JSON.stringify(whole), 'utf8')
  const proposed = await use((world) => propose(world, { batch: bytes, ...how }))
  return proposedAnswer(proposed, typeof named === 'string' ? named : undefined)
}

/** The name may be the agent's own; the session is the client's conversation, or one agent could claim what another has read. */
function agentOf(given: unknown, { name, session }: Caller): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return given === undefined ? { name, ...(session === null ? {} : { session }) } : given
  return { name, ...given, ...(session === null ? {} : { session }) }
}

function proposedAnswer({ change, repeated, results }: Proposed, repository: string | undefined): ToolAnswer {
  const again = repeated ? 'The same batch was proposed before. ' : ''
  const places = results.flatMap(({ item, path, newLines, carried, places }) => {
    if (newLines === undefined) return []
    const count = places === undefined ? '' : `, ${places} places`
    return [
      `edit ${item} (${path}): now lines ${newLines.from} to ${newLines.to}${count}${carried ? ', carried to where its lines have moved' : ''}`,
    ]
  })
  return {
    message: `${again}${changeLine(change)}`,
    next: nextFor(change),
    detail: [changeDetail(change), ...places.slice(0, PLACES_NAMED_MAX)].join('\n'),
    value: { change: changeValue(change), repeated, results },
    links: [diffLink(change, repository)],
  }
}

const PLACES_NAMED_MAX = 100
