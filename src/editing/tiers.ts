import { type Tier, tiers } from '../model/edit.ts'

/** Position of a tier from strict (0) to lenient. */
export const rankOf = (tier: Tier): number => tiers.indexOf(tier)

export const stricter = (a: Tier, b: Tier): Tier => (rankOf(a) <= rankOf(b) ? a : b)

export const moreLenient = (a: Tier, b: Tier): Tier => (rankOf(a) >= rankOf(b) ? a : b)
