import type { BlobId } from './ids.ts'

/**
 * The canonical edits: what every dialect translates into, and all that the engine applies.
 *
 * A dialect decides nothing about places in a file; it only says what was asked.
 */
export type Edit =
  | ReplaceEdit
  | LinesEdit
  | InsertEdit
  | AppendEdit
  | WriteEdit
  | DeleteEdit
  | MoveEdit
  | CopyEdit
  | ChmodEdit
  | HunksEdit
  | DeltaEdit
  | CellEdit

/** What a kind of edit is called in messages: where its own name is of the inside, the name that a requester knows. */
export function wordFor({ op }: Pick<Edit, 'op'>): string {
  if (op === 'hunks') return 'patch'
  if (op === 'delta') return 'binary patch'
  return op === 'cell' ? 'edit of a cell' : op
}

/** How exactly the text to find matched, from strict to lenient (DESIGN.md section 5). */
export const tiers = ['exact', 'eol', 'trailing-space', 'unicode', 'indent'] as const
export type Tier = (typeof tiers)[number]

interface EditBase {
  /** Index of the item in the submitted batch, from 0; for messages. */
  readonly item: number
  /**
   * Edits of one step all refer to the files as they were before the step; a later step sees the results of the
   * earlier ones. `order: "original"` is one step for all; `sequential` is one step for each.
   */
  readonly step: number
  /** Repository path, validated, `/` between its parts. */
  readonly path: string
  /** Freshness: the blob the requester saw; null = saw that it was absent; undefined = not said. */
  readonly blob?: BlobId | null
}

export interface ReplaceEdit extends EditBase {
  readonly op: 'replace'
  readonly old: string
  readonly new: string
  /** Replaces every place instead of requiring exactly one. */
  readonly all: boolean
  /** With `all`: exactly this many places must match, or the edit is refused (Gemini's `expected_replacements`). */
  readonly count?: number
  /** The dialect's cap on leniency; the policy's cap applies too. */
  readonly maxTier?: Tier
  /** Whole lines only: `old` must begin and end at line boundaries (Agent Zero's exact replace, SEARCH blocks). */
  readonly wholeLines?: boolean
  /** Only places that begin on this line (1-based) count. */
  readonly startLine?: number
}

export interface LinesEdit extends EditBase {
  readonly op: 'lines'
  /** 1-based, inclusive. */
  readonly from: number
  /** null with content = insert before `from`; null without content = delete the one line `from`. */
  readonly to: number | null
  /** null = delete. */
  readonly content: string | null
  readonly expected?: string
  /**
   * Lines past the end of the file: refused (default), or Agent Zero's rule `clamp`: a `to` past the last line is the
   * last line, and content whose `from` is past it goes to the end of the file. A deletion past the end is refused.
   */
  readonly pastEnd?: 'refuse' | 'clamp'
  /** `in-order`: the expected lines must stand in the range in this order. `any-order`: zapmyco's rule, multiplicity counts. */
  readonly expectedOrder: 'in-order' | 'any-order'
}

export interface InsertEdit extends EditBase {
  readonly op: 'insert'
  /** Inserts after this line; 0 = at the top. */
  readonly after: number
  readonly content: string
  /** The dialect's own place is evidence enough: no read is needed (Anthropic editor). Default false. */
  readonly needsNoRead?: boolean
}

export interface AppendEdit extends EditBase {
  readonly op: 'append'
  readonly content: string
}

export interface WriteEdit extends EditBase {
  readonly op: 'write'
  readonly content: Uint8Array
  /** `either`: for systems that know no difference. */
  readonly mode: 'create' | 'overwrite' | 'either'
  /** undefined keeps the mode. */
  readonly executable?: boolean
  /** The content came as text: omission placeholders are looked for. */
  readonly isText: boolean
}

export interface DeleteEdit extends EditBase {
  readonly op: 'delete'
  /** The bytes that must stand there, where the request names them (a diff that deletes). */
  readonly expectedContent?: Uint8Array
}

export interface MoveEdit extends EditBase {
  readonly op: 'move'
  readonly to: string
}

/** A unified diff's `copy from`/`copy to`: the target starts as the source. */
export interface CopyEdit extends EditBase {
  readonly op: 'copy'
  readonly to: string
}

export interface ChmodEdit extends EditBase {
  readonly op: 'chmod'
  readonly executable: boolean
}

export interface HunkLine {
  readonly kind: 'context' | 'remove' | 'add'
  /** The line's bytes without its terminator. */
  readonly text: Uint8Array
  /** A `\ No newline at end of file` marker followed. */
  readonly unterminated?: boolean
}

export interface Hunk {
  /** Envelope hunks: `@@ …` texts, outermost first. The hunk is searched below the last one's line. */
  readonly anchors: readonly string[]
  /**
   * Unified hunks: 1-based line of the first old line in the file as it was, or, where the hunk has no old line, the
   * line after which it inserts (`@@ -3,0 +4 @@` is 3; 0 = at the top); null = the hunk carries no place.
   */
  readonly oldStart: number | null
  readonly lines: readonly HunkLine[]
  /** Envelope hunks: the hunk's end must be the end of the file. (Of a unified hunk its lines say so.) */
  readonly endOfFile: boolean
  /** Line of the request's own text, for messages; 1-based. */
  readonly sourceLine: number
}

export interface HunksEdit extends EditBase {
  readonly op: 'hunks'
  /**
   * `unified`: bytes are exact and old lines are looked for at their place first. `envelope`: searched below the
   * anchors and the hunk before; new text takes the file's line endings.
   */
  readonly flavour: 'unified' | 'envelope'
  readonly hunks: readonly Hunk[]
  /**
   * Unified: the first hex digits (at least 7, lower case) of the blob that the diff was made from. Where the file's
   * blob begins with them, every hunk stands exactly at its place: what `git diff -U0` gives is applied by this
   * evidence. Where it does not, a hunk without old lines is `stale-read`, and for the others the ordinary rules hold.
   */
  readonly preimage?: string
  readonly maxTier?: Tier
}

/** A binary patch in git's delta form, already inflated. */
export interface DeltaEdit extends EditBase {
  readonly op: 'delta'
  readonly delta: Uint8Array
}

/** One cell of a Jupyter notebook; the JSON around it keeps its bytes. */
export interface CellEdit extends EditBase {
  readonly op: 'cell'
  /** By id, or by index from 0. */
  readonly cell: { readonly id: string } | { readonly index: number } | null
  readonly action: 'replace' | 'insert-after' | 'delete'
  readonly source: string
  readonly cellType?: 'code' | 'markdown'
}
