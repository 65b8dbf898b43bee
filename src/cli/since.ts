import { usageError } from './errors.ts'

const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 24 * 3_600_000,
  week: 7 * 24 * 3_600_000,
  month: 30 * 24 * 3_600_000,
  year: 365 * 24 * 3_600_000,
}

/**
 * Reads a moment as people write it: a date or time in ISO 8601, or how long ago (`3 days`, `2 weeks ago`, `36h`).
 *
 * @throws GalleyError `usage`.
 */
export function readSince(text: string, nowMs: number): string {
  const ago = /^(\d{1,6})\s*(m|h|d|w|minutes?|hours?|days?|weeks?|months?|years?)(?:\s+ago)?$/i.exec(
    text.trim(),
  )
  if (ago !== null) {
    const word = (ago[2] ?? '').toLowerCase().replace(/s$/, '')
    const unit = Object.keys(UNITS).find(
      (name) => name === word || (word.length === 1 && name.startsWith(word)),
    )
    return new Date(nowMs - Number(ago[1]) * (UNITS[unit ?? ''] ?? 0)).toISOString()
  }
  if (/^yesterday$/i.test(text.trim())) return new Date(nowMs - (UNITS['day'] ?? 0)).toISOString()
  const at = /^\d{4}-\d{2}/.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN
  if (Number.isNaN(at))
    throw usageError(
      `--since takes a date (2026-11-29) or how long ago (3 days), not ${JSON.stringify(text)}`,
    )
  return new Date(at).toISOString()
}
