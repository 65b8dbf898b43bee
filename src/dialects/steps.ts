/**
 * Hands out steps to the edits of one item, as few as the order of its parts allows: a part that touches no path of
 * an earlier part shares the first step, any other comes after the parts whose paths it touches.
 */
export class StepCounter {
  readonly first: number
  readonly #after = new Map<string, number>()
  #last: number

  constructor(first: number) {
    this.first = first
    this.#last = first
  }

  /** The step after everything that touched one of these paths; the paths count as touched in it. */
  take(...paths: readonly string[]): number {
    const step = Math.max(this.first, ...paths.map((path) => this.#after.get(path) ?? this.first))
    this.touch(step, ...paths)
    return step
  }

  /** Records that these paths are touched in a step: a later part that touches one gets a later step. */
  touch(step: number, ...paths: readonly string[]): void {
    for (const path of paths) this.#after.set(path, Math.max(step + 1, this.#after.get(path) ?? 0))
    this.#last = Math.max(this.#last, step)
  }

  /** The first step that no part has. */
  get next(): number {
    return this.#last + 1
  }
}
