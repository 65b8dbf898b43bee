import { limits } from '../model/limits.ts'
import type { AutoApprove, Policy } from '../model/policy.ts'
import { defaultPolicy } from './default-policy.ts'
import {
  listOf,
  needed,
  orElse,
  orNull,
  positiveNumber,
  type Read,
  readFlag,
  readMembers,
  wholeNumber,
  wordOf,
} from './policy-reader.ts'
import { readCommand, readGlobs, readName, readPath, readTier } from './policy-values.ts'

const fileLargestBytes = 1024 * 1024 * 1024
const hoursMost = 24 * 366
const count = wholeNumber({ least: 1, most: 1_000_000_000 })

export const readAutoApprove: Read<AutoApprove> = (field) => {
  const member = readMembers(field, ['paths', 'maxFiles', 'maxLines', 'checks', 'maxTier'])
  if (member === undefined) return undefined
  const rest = {
    maxFiles: orNull(member('maxFiles'), count),
    maxLines: orNull(member('maxLines'), count),
    checks: orElse(member('checks'), listOf(readName), []),
    maxTier: orElse(member('maxTier'), readTier, 'exact'),
  }
  const paths = needed(member('paths'), readGlobs)
  return paths === undefined ? undefined : { paths, ...rest }
}

export const readLimits: Read<Policy['limits']> = (field) => {
  const member = readMembers(field, ['fileMaxBytes', 'batchMaxEdits', 'batchMaxFiles'])
  if (member === undefined) return undefined
  const { fileMaxBytes, batchMaxEdits, batchMaxFiles } = defaultPolicy.limits
  const editCount = wholeNumber({ least: 1, most: limits.batchMaxEdits })
  return {
    fileMaxBytes: orElse(
      member('fileMaxBytes'),
      wholeNumber({ least: 1, most: fileLargestBytes }),
      fileMaxBytes,
    ),
    batchMaxEdits: orElse(member('batchMaxEdits'), editCount, batchMaxEdits),
    batchMaxFiles: orElse(member('batchMaxFiles'), count, batchMaxFiles),
  }
}

export const readFreshness: Read<Policy['freshness']> = (field) => {
  const member = readMembers(field, ['reads', 'carry'])
  if (member === undefined) return undefined
  return {
    reads: orElse(member('reads'), wordOf(['refuse', 'warn']), defaultPolicy.freshness.reads),
    carry: orElse(member('carry'), readFlag, defaultPolicy.freshness.carry),
  }
}

export const readMatching: Read<Policy['matching']> = (field) => {
  const member = readMembers(field, ['maxTier'])
  return member && { maxTier: orElse(member('maxTier'), readTier, defaultPolicy.matching.maxTier) }
}

export const readCommit: Read<Policy['commit']> = (field) => {
  const member = readMembers(field, ['author'])
  return (
    member && { author: orElse(member('author'), wordOf(['user', 'agent']), defaultPolicy.commit.author) }
  )
}

export const readApproval: Read<Policy['approval']> = (field) => {
  const member = readMembers(field, ['requires', 'count', 'expiresAfterHours'])
  if (member === undefined) return undefined
  const requires = wordOf(['any', 'terminal', 'signature'])
  return {
    requires: orElse(member('requires'), requires, defaultPolicy.approval.requires),
    count: orElse(member('count'), wholeNumber({ least: 1, most: 100 }), defaultPolicy.approval.count),
    expiresAfterHours: orNull(member('expiresAfterHours'), positiveNumber(hoursMost)),
  }
}

export const readSetup: Read<NonNullable<Policy['setup']>> = (field) => {
  const member = readMembers(field, ['run', 'lockFiles'])
  if (member === undefined) return undefined
  const lockFiles = orElse(member('lockFiles'), listOf(readPath), [])
  const run = needed(member('run'), readCommand)
  return run === undefined ? undefined : { run, lockFiles }
}
