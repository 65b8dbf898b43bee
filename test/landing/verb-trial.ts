import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type BundledProgram, bundleProgram } from '../helpers/bundle-program.ts'
import type { Snapshot, TestRepo } from '../helpers/repo.ts'
import { leftovers } from './stage-change.ts'
import type { Verb, VerbOutcome } from './verb-child.ts'

export type { Verb } from './verb-child.ts'

/** The child that runs one verb. */
export const bundleVerb = (): Promise<BundledProgram> => bundleProgram('test/landing/verb-child.ts')

/** Runs a verb in a process of its own, as the account with the number given. */
export function runVerb(
  program: string,
  repo: TestRepo,
  verb: Verb,
  account: number | null = null,
): VerbOutcome {
  const args = [program, repo.dir, JSON.stringify(repo.env), String(account ?? '-'), JSON.stringify(verb)]
  const said = execFileSync(process.execPath, args, { env: repo.env, cwd: repo.dir, encoding: 'utf8' })
  return JSON.parse(said) as VerbOutcome
}

/** The id of what a verb made; fails when it was refused. */
export function done(outcome: VerbOutcome): string {
  if (!outcome.ok) throw new Error(`refused: ${outcome.code}: ${outcome.said}`)
  return outcome.id
}

/** What has to be empty when no galley command runs: locks, unfinished landings, git's and galley's passing files. */
export function litter(repo: TestRepo): readonly string[] {
  const names = readdirSync(`${repo.dir}/.git`, { recursive: true, encoding: 'utf8' })
  const passing = names.filter((name) =>
    /(?:^|\/)tmp_|galley\/(?:tmp\/|store-)|\.tmp$|fast_import_crash/.test(name),
  )
  // What git's own fast-import leaves when it fails is taken by `galley gc` a day later: it might be another's.
  return [
    ...leftovers(repo),
    ...passing.filter((name) => !name.startsWith('galley/store.git/objects/pack/tmp_')),
  ]
}

/** What differs between two snapshots, by name. */
export function changesBetween(before: Snapshot, after: Snapshot): readonly string[] {
  return Object.keys(before).flatMap((key) => {
    const [old, now] = [before[key as keyof Snapshot], after[key as keyof Snapshot]]
    if (typeof old === 'string' || typeof now === 'string')
      return old === now ? [] : [`${key}: ${old} -> ${now}`]
    return [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((name) => old[name] !== now[name])
      .map((name) => `${key} ${name}: ${old[name] ?? 'absent'} -> ${now[name] ?? 'absent'}`)
  })
}
