const asked = process.env['GALLEY_RUNS']

/** Runs of a property that touches nothing but memory: `GALLEY_RUNS` (10000 in CI), else as many as given. */
export const pureRuns = (usual: number): number => (asked === undefined ? usual : Number(asked))

/** Runs of a property in which git itself takes part: a tenth of `GALLEY_RUNS`, else as many as given. */
export const gitRuns = (usual: number): number =>
  asked === undefined ? usual : Math.ceil(Number(asked) / 10)

/** The seed of cases that are drawn at once: fixed, but for long runs (`GALLEY_SEED` repeats one of those). */
export function seedOf(usual: number): number {
  const given = process.env['GALLEY_SEED']
  if (given !== undefined) return Number(given)
  return asked === undefined ? usual : Math.floor(Math.random() * 2 ** 31)
}
