import type { ReviewDraft } from '../review/draft.ts'

/** Text with what is unseen in it written out: `t` text, `m` such a character, `b` blanks that end the line. */
export type PageText = string | readonly (readonly ['t' | 'm' | 'b', string])[]

export interface PageLine {
  readonly kind: 'context' | 'add' | 'remove' | 'note'
  readonly old: number | null
  readonly new: number | null
  readonly text: PageText
}

/** What is decided on as one. */
export interface PagePiece {
  readonly key: string
  readonly wholeKey: string
  readonly fileKey: string
  /** Of the hunk; null where the piece is a file without lines. */
  readonly number: number | null
  readonly part: number | null
  readonly canSplit: boolean
  /** The lines that it makes, to be edited; null = it cannot be. */
  readonly newText: string | null
  readonly lines: readonly PageLine[]
}

export interface PageFile {
  readonly key: string
  /** As it is shown. */
  readonly path: string
  /** As it is. */
  readonly name: string
  readonly words: readonly string[]
  readonly added: number
  readonly removed: number
  readonly image: boolean
  /** Whether there is a side before, and one after. */
  readonly sides: readonly boolean[]
}

export interface PageComment {
  readonly by: string
  readonly text: string
  readonly path: string | null
  /** Where its lines stand now; null = at the file, or the change. */
  readonly line: number | null
  readonly note: string
  readonly rejects: boolean
  readonly revision: number
}

export interface PageChange {
  readonly id: string
  readonly revision: number
  readonly state: string
  readonly digest: string
  readonly title: string
  readonly body: string
  readonly agent: string
  readonly target: string
  readonly base: string
  readonly checks: readonly {
    readonly name: string
    readonly outcome: string
    readonly required: boolean
    readonly seconds: number
  }[]
  readonly approvals: readonly string[]
  readonly comments: readonly PageComment[]
  readonly files: readonly PageFile[]
  readonly pieces: readonly PagePiece[]
  readonly reviewer: string
  readonly draft: ReviewDraft
}

/** One row of the list. */
export interface PageSummary {
  readonly id: string
  readonly title: string
  readonly agent: string
  readonly state: string
  readonly revision: number
  readonly files: number
  readonly added: number
  readonly removed: number
  readonly proposedAt: string
}

export interface PageList {
  readonly repository: string
  readonly pending: readonly PageSummary[]
  readonly landed: number
}

export interface PageRefusal {
  readonly code: string
  readonly message: string
  readonly hint: string
}
