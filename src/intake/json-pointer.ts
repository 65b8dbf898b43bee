/** Writes the way to a value as a JSON pointer (RFC 6901): `["edits", 0, "a/b"]` is `/edits/0/a~1b`. */
export const pointerOf = (way: readonly PropertyKey[]): string =>
  way.map((step) => `/${String(step).replace(/[~/]/g, (c) => (c === '~' ? '~0' : '~1'))}`).join('')

/** Reads a JSON pointer back into its steps. */
export const stepsOf = (pointer: string): readonly string[] =>
  pointer === ''
    ? []
    : pointer
        .slice(1)
        .split('/')
        .map((step) => step.replace(/~[01]/g, (written) => (written === '~0' ? '~' : '/')))
