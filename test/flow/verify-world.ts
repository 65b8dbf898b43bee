import { type VerifyRequest, verify } from '../../src/flow/verify/verify.ts'
import { openWorld } from '../../src/flow/world.ts'
import type { Verification } from '../../src/model/verdict.ts'
import { systemClock } from '../../src/sys/clock.ts'
import { batch, openGalley } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'

/** Verifies as a person would on the command line. */
export async function verifyRange(
  repo: TestRepo,
  range: string,
  more: Omit<VerifyRequest, 'range'> & { readonly nowMs?: number } = {},
): Promise<Verification> {
  const { nowMs, ...request } = more
  const clock = nowMs === undefined ? systemClock : { ...systemClock, now: () => nowMs }
  const world = await openWorld(repo.dir, { env: repo.env, clock })
  try {
    return await verify(world, { range, ...request })
  } finally {
    await world.close()
  }
}

/** One line a commit, oldest first: its verdict and its title. */
export const linesOf = (found: Verification): readonly string[] =>
  found.commits.map((c) => `${c.verdict} ${c.title}`)

export interface Approved {
  readonly id: string
  readonly commit: string
}

/** Stages and approves a change that writes these files; it has not landed. */
export async function approveChange(
  repo: TestRepo,
  title: string,
  files: Readonly<Record<string, string | null>>,
): Promise<Approved> {
  await using galley = await openGalley(repo)
  const edits = Object.entries(files).map(([path, content]) =>
    content === null ? { op: 'delete', path } : { op: 'write', path, content },
  )
  const { change } = await galley.propose({ batch: batch(edits, { title }) })
  await galley.approve({ id: change.id })
  return { id: change.id, commit: change.commit }
}

/** The same, landed on the branch that is checked out. */
export async function landChange(
  repo: TestRepo,
  title: string,
  files: Readonly<Record<string, string | null>>,
): Promise<Approved> {
  const { id } = await approveChange(repo, title, files)
  await using galley = await openGalley(repo)
  const { landed } = await galley.land({ id })
  return { id, commit: landed.after }
}

export const guardMain = { '.galley.json': '{ "guard": ["main"] }\n' }

/** A person's own commit, with the files as given. */
export function commitFiles(
  repo: TestRepo,
  message: string,
  files: Readonly<Record<string, string>>,
): string {
  for (const [path, content] of Object.entries(files)) repo.write(path, content)
  return repo.commit(message)
}
