/** Each `-C` counts from the one before, and an empty one stays there, as with git. Not normalised: `link/..` is where the link leads. */
export function inTurn(before: string | null, next: string): string | null {
  if (next === '') return before
  return before === null || next.startsWith('/') ? next : `${before}/${next}`
}
