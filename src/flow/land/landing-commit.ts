import { parseCommit } from '../../git/commit.ts'
import { isTrue } from '../../git/config.ts'
import { openImporter } from '../../git/fast-import.ts'
import { signCommit } from '../../git/sign-commit.ts'
import type { Revision } from '../../model/change.ts'
import { invariant } from '../../model/error.ts'
import type { CommitId } from '../../model/ids.ts'
import type { Store } from '../../store/open-store.ts'
import { transitionsOf } from '../check.ts'
import { digestOf } from '../stage.ts'
import { storedChanges } from '../stored-changes.ts'
import type { World } from '../world.ts'

/**
 * The commit that lands: the revision's own where it stands on the tip; else the same transitions, message and author on the
 * tip. Signed where the user's configuration says that commits are. The digest is the same in every case.
 *
 * Leaves objects in the store.
 */
export async function landingCommit(
  world: World,
  store: Store,
  revision: Revision,
  tip: CommitId | null,
): Promise<CommitId> {
  const unsigned = tip === revision.base ? revision.commit : await reparent(world, store, revision, tip)
  const signs = isTrue((await world.config()).get('commit.gpgsign'))
  const commit = signs ? await sign(world, store, unsigned, tip) : unsigned
  if (commit !== revision.commit) await expectApproved(store, revision, { parent: tip, commit })
  return commit
}

/** The commit must hold, on its parent, exactly what was approved: a mismatch is our fault, and nothing lands. */
export async function expectApproved(
  store: Store,
  { digest }: Pick<Revision, 'digest'>,
  { parent, commit }: { readonly parent: CommitId | null; readonly commit: CommitId },
): Promise<void> {
  const found = digestOf(await transitionsOf(store, parent, commit))
  invariant(found === digest, 'the commit that lands has the digest that was approved')
}

async function reparent(
  world: World,
  store: Store,
  revision: Revision,
  tip: CommitId | null,
): Promise<CommitId> {
  const original = await parseCommit(await world.reader(), revision.commit)
  const importer = openImporter(store.door, { asPack: true })
  const { commit } = await importer.commit({
    parent: tip,
    author: original.author,
    committer: await world.identity(),
    message: original.message,
    changes: storedChanges(revision.manifest),
  })
  await importer.finish()
  return commit
}

async function sign(world: World, store: Store, unsigned: CommitId, tip: CommitId | null): Promise<CommitId> {
  const original = await parseCommit(await world.reader(), unsigned)
  return signCommit(world.repository, store.door, await world.config(), original.tree, {
    base: tip,
    author: original.author,
    committer: await world.identity(),
    message: original.message,
  })
}
