import { GalleyError, invariant } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import type { Failure } from '../model/resolution.ts'

/** The first failure speaks for the batch; all are listed. */
export function refuseBatch(failures: readonly Failure[]): never {
  const [first] = failures
  invariant(first, 'a refused batch has a failure')
  const more = failures.length > 1 ? ` (and ${failures.length - 1} more)` : ''
  throw new GalleyError({
    code: first.code,
    message: `edit ${first.item + 1}: ${first.message}${more}`,
    data: {
      ...first.data,
      item: first.item,
      path: first.path,
      failures: failures.slice(0, limits.failuresShown),
      failureCount: failures.length,
    },
    ...(first.hint === undefined ? {} : { hint: first.hint }),
  })
}
