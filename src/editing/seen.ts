import type { LineRange } from './line-range.ts'

/** Lines known to the requester: ranges that are sorted and do not touch, or all, or none. */
export type Seen = 'all' | 'none' | readonly LineRange[]
