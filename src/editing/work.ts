/** Thrown where a batch has used up the searching it may ask for; caught where its edits and paths are judged. */
export class WorkExhausted extends Error {
  constructor() {
    super('the batch asks for more searching than one batch may')
    this.name = 'WorkExhausted'
  }
}

/** Failures that are explained by looking for the nearest place; a batch that fails more often is wrong throughout. */
const EXPLANATIONS_MAX = 20

/**
 * What one batch may still cost: bounds every search by a sum, however hostile the texts are.
 *
 * The unit is one byte looked at, about a nanosecond; dearer steps are charged as so many bytes.
 */
export class Work {
  private readonly most: number
  private left: number
  private explanations = EXPLANATIONS_MAX

  constructor(bytes: number) {
    this.most = bytes
    this.left = bytes
  }

  /** What has been spent so far. */
  get spent(): number {
    return this.most - this.left
  }

  /** @throws {WorkExhausted} when nothing is left. */
  spend(bytes: number): void {
    this.left -= bytes
    if (this.left < 0) throw new WorkExhausted()
  }

  /** Whether one more failure may be explained at the cost of a pass over the file. */
  mayExplain(): boolean {
    this.explanations--
    return this.explanations >= 0
  }
}
