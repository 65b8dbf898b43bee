import type { Resource, ResourceTemplateType, TextResourceContents } from '@modelcontextprotocol/server'
import { readPairs } from '../flow/show.ts'
import { status } from '../flow/status.ts'
import { refuse } from '../model/error.ts'
import { encodeDiff } from '../review/unified-diff.ts'
import { visible } from '../review/visible.ts'
import { diffLink } from './change-words.ts'
import type { McpHost } from './tool.ts'

const LISTED_MAX = 100
/** Of one diff as a resource. */
const DIFF_MAX_BYTES = 8 * 1024 * 1024

export const templates: ResourceTemplateType[] = [
  {
    uriTemplate: 'galley://changes/{id}/{revision}.diff{?repository}',
    name: 'diff',
    title: 'Diff of one revision of a change',
    mimeType: 'text/x-diff',
  },
]

/** The diffs of what waits for a decision, in every repository of the server. */
export async function listDiffs({ places }: McpHost): Promise<Resource[]> {
  const found: Resource[] = []
  for (const directory of places.directories) {
    const named = places.directories.length === 1 ? undefined : directory
    // A directory that holds no repository (yet) has no changes either.
    const pending = await places
      .use(directory, async (world) => (await status(world)).pending)
      .catch(() => [])
    for (const change of pending.slice(0, LISTED_MAX - found.length))
      found.push({ ...diffLink(change, named), title: visible(change.title) })
  }
  return found
}

const URI = /^galley:\/\/changes\/([a-z0-9]{3,64})\/([1-9]\d{0,5})\.diff(?:\?repository=([^&]*))?$/

/**
 * The whole diff of one revision.
 *
 * @throws GalleyError `not-found` for an address that is none of these; `too-large`; the codes of `readPairs`.
 */
export async function readDiff({ places }: McpHost, uri: string): Promise<TextResourceContents> {
  const [, id, number, encoded] = URI.exec(uri) ?? []
  if (id === undefined) refuse('not-found', `no resource has the address ${uri.slice(0, 200)}`, {})
  const repository = encoded === undefined ? undefined : decoded(encoded)
  const pairs = await places.use(repository, (world) => readPairs(world, id, Number(number)))
  const bytes = encodeDiff(pairs, { contextLines: 3 })
  if (bytes.length > DIFF_MAX_BYTES)
    refuse(
      'too-large',
      `the diff has ${bytes.length} bytes; ${DIFF_MAX_BYTES} are given out`,
      {},
      `\`galley diff ${id} --raw\` prints it.`,
    )
  return { uri, mimeType: 'text/x-diff', text: bytes.toString('utf8') }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (!(error instanceof URIError)) throw error
    refuse('not-found', 'the repository in the address cannot be read', {})
  }
}
