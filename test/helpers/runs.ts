const asked = process.env['GALLEY_RUNS']

/** Runs of a property that touches nothing but memory: `GALLEY_RUNS` (10000 in CI), else as many as given. */
export const pureRuns = (usual: number): number => (asked === undefined ? usual : Number(asked))

/** Runs of a property in which git itself takes part: a tenth of `GALLEY_RUNS`, else as many as given. */
export const gitRuns = (usual: number): number =>
  asked === undefined ? usual : Math.ceil(Number(asked) / 10)
