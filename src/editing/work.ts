/** Thrown where a batch has used up the searching it may ask for; caught in one place (`judge-edit`). */
export class WorkExhausted extends Error {
  constructor() {
    super('the batch asks for more searching than one batch may')
    this.name = 'WorkExhausted'
  }
}

/** What one batch may still cost, in bytes looked at: bounds every search by a sum, however hostile the texts are. */
export class Work {
  private left: number

  constructor(bytes: number) {
    this.left = bytes
  }

  /** @throws {WorkExhausted} when nothing is left. */
  spend(bytes: number): void {
    this.left -= bytes
    if (this.left < 0) throw new WorkExhausted()
  }
}
