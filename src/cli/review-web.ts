import { basename } from 'node:path'
import { openPlaces } from '../flow/places.ts'
import type { World } from '../flow/world.ts'
import { readPageFiles } from '../web/page-files.ts'
import { serveReview } from '../web/serve-review.ts'
import { portOf, untilEnded } from './serving.ts'
import type { Answer, CliContext } from './verb.ts'

/** Serves the review page until somebody ends the process. */
export async function reviewInBrowser(context: CliContext, world: World, port: unknown): Promise<Answer> {
  const { clock, terminal } = context
  const directory = world.repository.workTree ?? world.repository.gitDir
  const secret = () => Buffer.from(clock.random(24)).toString('base64url')
  const token = secret()
  const places = openPlaces({ directories: [directory], open: context.open, idleMs: 5_000 })
  const serving = await serveReview({
    port: portOf(port, '--port'),
    token,
    newSession: secret,
    places,
    repository: basename(directory),
    assets: readPageFiles(context.program),
  })
  terminal.note(`galley: ${serving.url}#token=${token}\ngalley: good for one browser; Ctrl-C ends it\n`)
  await untilEnded()
  await serving.close()
  await places.close()
  return { value: {}, text: '' }
}
