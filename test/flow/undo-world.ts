import type { ChangeView } from '../../src/flow/change-view.ts'
import type { Galley } from '../../src/flow/galley.ts'
import { batch } from '../helpers/galley.ts'
import type { TestRepo } from '../helpers/repo.ts'

/** Lines `1` to `count`, some of them replaced. */
export const numbered = (count: number, replaced: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, i) => `${replaced[i + 1] ?? `line ${i + 1}`}\n`).join('')

/** Proposes, approves and lands a batch. */
export async function land(
  galley: Galley,
  title: string,
  edits: readonly object[],
  more: object = {},
): Promise<ChangeView> {
  // Nothing is checked in these repositories, so that no scratch tree is needed.
  const { change } = await galley.propose({ batch: batch(edits, { title, ...more }), checks: 'later' })
  return approveAndLand(galley, change)
}

export async function approveAndLand(galley: Galley, change: ChangeView): Promise<ChangeView> {
  if (change.state === 'staged') await galley.approve({ id: change.id, digest: change.digest })
  return (await galley.land({ id: change.id })).change
}

export const replace = (path: string, old: string, next: string): object => ({
  op: 'replace',
  path,
  old,
  new: next,
})

/** Names of every ref, and every object file, of galley's own store. */
export function storeState(repo: TestRepo): { readonly refs: string; readonly objects: string } {
  const store = `${repo.dir}/.git/galley/store.git`
  return {
    refs: repo.git('--git-dir', store, 'for-each-ref'),
    objects: repo.git('--git-dir', store, 'count-objects', '-v'),
  }
}

export const treeOf = (repo: TestRepo, commit = 'HEAD'): string => repo.git('rev-parse', `${commit}^{tree}`)
