import { lstatSync } from 'node:fs'

/** Whether a directory of galley's own lets anyone but this account in. Where modes mean nothing, nobody is kept out: false. */
export function openToOthers(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat !== undefined && process.platform !== 'win32' && (stat.mode & 0o077) !== 0
}
