/**
 * Runs the task for every item, `most` of them at a time. When one fails, those that run are waited for and no other is begun.
 *
 * @throws What the first task to fail threw.
 */
export async function eachAtOnce<T>(
  items: readonly T[],
  most: number,
  task: (item: T, n: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let n = next++; n < items.length; n = next++) {
      const item = items[n]
      if (item !== undefined) await task(item, n).catch(stop)
    }
  }
  const stop = (error: unknown) => {
    next = items.length
    throw error
  }
  const ends = await Promise.allSettled(Array.from({ length: most }, worker))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
