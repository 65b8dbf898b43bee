import { limits } from '../model/limits.ts'

/** One message: a batch, and what the protocol puts around it. */
export const MESSAGE_MAX_BYTES = limits.batchMaxBytes + 1024 * 1024
export const MESSAGE_MAX_DEPTH = limits.jsonMaxDepth + 8
