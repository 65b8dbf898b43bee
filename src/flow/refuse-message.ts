import { refuse } from '../model/error.ts'
import { messageFault } from '../policy/own-lines.ts'

/**
 * Refuses a title or body that could not be read as it stands, or that git or galley would take for something of theirs.
 *
 * @throws GalleyError `usage`.
 */
export function refuseMessage({
  title = '',
  body = '',
}: {
  readonly title?: string
  readonly body?: string
}): void {
  const fault = messageFault({ title, body })
  if (fault !== null) refuse('usage', `the ${fault.part} ${fault.why}`, {})
}
