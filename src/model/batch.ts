import type { BlobId } from './ids.ts'

export const dialectNames = [
  'mino',
  'zapmyco',
  'agent-zero',
  'codex',
  'claude-code',
  'anthropic-editor',
  'mcp-filesystem',
  'gemini',
  'aider',
  'cline',
  'unified-diff',
] as const
export type DialectName = (typeof dialectNames)[number]

/** Who asks: recorded in the log and in the commit's trailer. Hostile text like all input. */
export interface Agent {
  readonly name: string
  readonly model?: string
  readonly session?: string
}

/** A batch as submitted, checked for form (DESIGN.md section 4) but not yet translated. */
export interface Batch {
  readonly version: 1
  readonly title: string
  readonly body?: string
  readonly agent?: Agent
  /** Revision expression or the id of a pending change; default HEAD. */
  readonly base?: string
  readonly onto?: string
  readonly key?: string
  readonly order?: 'original' | 'sequential'
  readonly reads: readonly BatchRead[]
  readonly dialect: DialectName | 'auto'
  readonly items: readonly BatchItem[]
}

export interface BatchRead {
  readonly path: string
  readonly blob: BlobId | null
}

/** One member of "edits": one of our own operations, a text in a foreign form, or a tool call verbatim. */
export type BatchItem = OperationItem | PatchItem | DiffItem | BlocksItem | ToolItem

export type OperationItem = { readonly blob?: BlobId | null; readonly path: string } & (
  | { readonly op: 'replace'; readonly old: string; readonly new: string; readonly all?: boolean }
  | {
      readonly op: 'lines'
      readonly from: number
      readonly to?: number
      readonly content: string | null
      readonly expected?: string
    }
  | { readonly op: 'insert'; readonly after: number; readonly content: string }
  | { readonly op: 'append'; readonly content: string }
  | {
      readonly op: 'write'
      readonly content: string
      readonly mode?: 'create' | 'overwrite'
      readonly encoding?: 'utf8' | 'base64'
      readonly executable?: boolean
    }
  | { readonly op: 'delete' }
  | { readonly op: 'move'; readonly to: string }
  | { readonly op: 'chmod'; readonly executable: boolean }
)

export interface PatchItem {
  readonly op: 'patch'
  readonly text: string
}

export interface DiffItem {
  readonly op: 'diff'
  readonly text: string
  readonly strip?: number
  readonly reverse?: boolean
  readonly encoding?: 'utf8' | 'base64'
}

export interface BlocksItem {
  readonly op: 'blocks'
  readonly text: string
  readonly path?: string
}

/** Tools that take one text for their input: it is read as `{ "input": text }`. */
export const freeFormTools: readonly string[] = ['apply_patch', 'applypatch']

export interface ToolItem {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}
