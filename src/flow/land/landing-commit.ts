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
  if (commit !== revision.commit) {
    const digest = digestOf(await transitionsOf(store, tip, commit))
    invariant(digest === revision.digest, 'the commit that lands has the digest that was approved')
  }
  return commit
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
    changes: revision.manifest.map((t) => {
      if (t.newMode === '000000') return { kind: 'delete', path: t.path }
      invariant(t.newMode === '100644' || t.newMode === '100755', 'a manifest to land holds regular files')
      return { kind: 'blob', path: t.path, mode: t.newMode, blob: t.newBlob }
    }),
  })
  await importer.finish()
  return commit
}

async function sign(world: World, store: Store, unsigned: CommitId, tip: CommitId | null): Promise<CommitId> {
  const original = await parseCommit(await world.reader(), unsigned)
  return signCommit(world.repository, store.door, original.tree, {
    base: tip,
    author: original.author,
    committer: await world.identity(),
    message: original.message,
  })
}
