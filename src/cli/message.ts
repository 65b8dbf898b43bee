import { usageError } from './errors.ts'
import type { Arguments } from './verb.ts'

/** `-m`, as `git commit` has it. */
export const messageOption = {
  alias: 'm',
  type: 'string',
  describe: 'Title; what follows a blank line is the body',
} as const

/** As in a commit's message: the first line, and what follows a blank one. */
export function messageOf(args: Arguments): { readonly title?: string; readonly body?: string } {
  if (args['message'] === undefined) return {}
  const [title = '', ...rest] = String(args['message']).trim().split('\n')
  if (title.trim() === '') throw usageError('-m needs a title')
  return { title: title.trim(), body: rest.join('\n').trim() }
}
