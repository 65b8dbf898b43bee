import type { DialectName } from '../model/batch.ts'
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

/** Every tool of a server, in a fixed order. */
export const toolsOf = (_adapter: DialectName | null): readonly Tool[] => ownTools
