import { keyReviewFiles } from '../flow/review/open-review.ts'
import { readPairs } from '../flow/show.ts'
import type { World } from '../flow/world.ts'
import type { DiffFile } from '../review/diff-file.ts'
import type { KeyedPiece } from '../review/piece-keys.ts'
import type { ReviewState } from './review-state.ts'

/** The pieces by which the revision differs from the one that this reviewer had before them before. */
export async function sinceLast(
  world: World,
  { change, files, draft }: ReviewState,
): Promise<readonly KeyedPiece[]> {
  const earlier = await readPairs(world, change.id, draft.before ?? change.revision)
  return keyReviewFiles(betweenRevisions(earlier, files))
}

/** Each file as the earlier revision made it, and as the later one does. One that a revision does not touch stands there as it was. */
function betweenRevisions(earlier: readonly DiffFile[], later: readonly DiffFile[]): readonly DiffFile[] {
  const was = new Map(earlier.map((file) => [file.path, file]))
  const is = new Map(later.map((file) => [file.path, file]))
  const paths = [...new Set([...was.keys(), ...is.keys()])].sort()
  return paths.flatMap((path) => {
    const [one, two] = [was.get(path), is.get(path)]
    const before = one === undefined ? (two?.before ?? null) : one.after
    const after = two === undefined ? (one?.before ?? null) : two.after
    const isSame = before?.blob === after?.blob && before?.mode === after?.mode
    return isSame ? [] : [{ path, before, after }]
  })
}
