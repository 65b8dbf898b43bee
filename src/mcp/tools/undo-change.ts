import * as z from 'zod'
import { undo } from '../../flow/undo/undo.ts'
import { refuse } from '../../model/error.ts'
import { changeDetail, changeLine, changeValue, diffLink, nextFor } from '../change-words.ts'
import { paths, repository } from '../form.ts'
import { tool } from '../tool.ts'

export const undoChange = tool({
  name: 'undo_change',
  title: 'Undo a landed change',
  description:
    'Stages the inverse of a landed change, of any commit, or of all that this conversation landed, as a new change. Later edits elsewhere stay. It goes through approval and land_change like any other.',
  input: z.strictObject({
    target: z.string().min(1).max(512).optional().describe('Id of a landed change, or a commit.'),
    whole_session: z
      .boolean()
      .optional()
      .describe('In place of a target: all that this conversation landed.'),
    paths: paths.optional().describe('Only these files and directories.'),
    hunks: z
      .array(z.int().min(1))
      .max(10_000)
      .optional()
      .describe('Only these hunks, by the numbers in the diff of the change.'),
    mainline: z.int().min(1).optional().describe('Of a merge commit: the parent to go back to.'),
    with_later: z.boolean().optional().describe('Take back later changes that stand in the way too.'),
    repository,
  }),
  output: {
    change: { type: 'object', description: 'The staged inverse.' },
    later: { type: 'array', description: 'Later commits that are taken back too.' },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  run: ({ input, caller, use }) =>
    use(async (world) => {
      if (input.whole_session === true && caller.session === null)
        refuse(
          'invalid-arguments',
          'undo_change: nothing tells this conversation from others',
          {},
          'Name a target.',
        )
      const { change, later } = await undo(world, {
        ...(input.target === undefined ? {} : { target: input.target }),
        ...(input.whole_session === true && caller.session !== null ? { session: caller.session } : {}),
        ...(input.mainline === undefined ? {} : { mainline: input.mainline }),
        paths: input.paths ?? [],
        hunks: input.hunks ?? [],
        withLater: input.with_later === true,
      })
      const also = later.length === 0 ? '' : `\nalso takes back ${later.length} later commits`
      return {
        message: changeLine(change),
        next: nextFor(change),
        detail: `${changeDetail(change)}${also}`,
        value: { change: changeValue(change), later },
        links: [diffLink(change, input.repository)],
      }
    }),
})
