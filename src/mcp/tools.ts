import type { DialectName } from '../model/batch.ts'
import { adapterTools } from './adapter-tools.ts'
import type { Tool } from './tool.ts'
import { awaitDecision } from './tools/await-decision.ts'
import { galleyStatus } from './tools/galley-status.ts'
import { landChange } from './tools/land-change.ts'
import { listChanges } from './tools/list-changes.ts'
import { proposeEdits, reviseChange } from './tools/propose-edits.ts'
import { readFile } from './tools/read-file.ts'
import { showChange } from './tools/show-change.ts'
import { undoChange } from './tools/undo-change.ts'

/** galley's own tools, in the order of the work. Clients cache the list: it never varies between two connections. */
const ownTools: readonly Tool[] = [
  readFile,
  proposeEdits,
  listChanges,
  showChange,
  awaitDecision,
  reviseChange,
  undoChange,
  landChange,
  galleyStatus,
]

/** Every tool of a server, in a fixed order. An adapter's tool takes the place of one of galley's by the same name. */
export function toolsOf(adapter: DialectName | null): readonly Tool[] {
  const native = adapter === null ? [] : adapterTools(adapter)
  const names = new Set(native.map(({ name }) => name))
  return [...ownTools.filter(({ name }) => !names.has(name)), ...native]
}
