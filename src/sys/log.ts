import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { standsAt } from './plain-file.ts'

/** The log of what galley did, for people who look for a fault. Never holds the contents of files. */
export interface Log {
  readonly note: (event: string, fields?: Readonly<Record<string, string | number | boolean | null>>) => void
  /** Writes what was noted. Nothing is written where galley has no folder. */
  readonly close: () => Promise<void>
}

/**
 * Notes are kept in memory and written when the verb ends: loading the logger costs more than most verbs.
 *
 * Leaves `<galleyDir>/galley.log`, mode 0600, one JSON object a line.
 */
export function openLog(galleyDir: string): Log {
  const notes: { readonly event: string; readonly fields: Readonly<Record<string, unknown>> }[] = []
  return {
    note: (event, fields = {}) => void notes.push({ event, fields }),
    close: async () => {
      if (notes.length === 0 || !existsSync(galleyDir)) return
      const file = join(galleyDir, 'galley.log')
      if (!canWrite(file)) return
      const { pino } = await import('pino')
      const logger = pino(
        { base: { pid: process.pid } },
        pino.destination({ dest: file, sync: true, mode: 0o600 }),
      )
      for (const { event, fields } of notes.splice(0)) logger.info(fields, event)
    },
  }
}

/** What was done is done: a log that cannot be written (a folder that was purged meanwhile, a full disk) undoes nothing. */
function canWrite(file: string): boolean {
  // A pipe would be waited for, and a link leads to somebody's file.
  if (!['absent', 'file'].includes(standsAt(file))) return false
  try {
    closeSync(openSync(file, 'a', 0o600))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
