import { usageError } from './errors.ts'

/**
 * Reads what `--hunk` was given: `3`, or several: `1,4`.
 *
 * @throws GalleyError `usage`.
 */
export function hunkNumbers(text: string): readonly number[] {
  return text.split(',').map((part) => {
    if (!/^[1-9]\d{0,8}$/.test(part))
      throw usageError(`--hunk takes numbers, from 1; found ${JSON.stringify(text)}`)
    return Number(part)
  })
}
