import * as z from 'zod'

/** Which of the server's repositories is meant. */
export const repository = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe('Path of the repository; needed only where the server was started with several.')

/** A change's id or the beginning of one. */
export const changeId = z
  .string()
  .min(1)
  .max(64)
  .describe('Id of the change, or a beginning that no other has.')

const place = z.string().min(1).max(4096)

export const path = place.describe('Path from the root of the repository, with / between its parts.')

export const paths = z.array(place).max(10_000)

export const lineNumber = z.int().min(1)
