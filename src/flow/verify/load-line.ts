import { join } from 'node:path'
import { type LoggedCommit, stepBetween, walkCommits } from '../../git/commit-log.ts'
import type { GitDoor } from '../../git/door.ts'
import { emptyTree } from '../../git/fast-import.ts'
import { type CommitId, commitId, treeId, zeroId } from '../../model/ids.ts'
import type { CommitVerdict } from '../../model/verdict.ts'
import { type LineStep, plainStep } from './cover-step.ts'
import type { BranchRequest, StagedCommit } from './range-request.ts'
import { shownPath } from './verdict-of.ts'
import type { Verifier } from './verifier.ts'

export interface LoadedStep {
  readonly step: LineStep
  readonly logged: LoggedCommit
}

/** A branch from where it stood to where it is to go. */
export interface BranchLine {
  readonly start: CommitId | null
  /** Oldest first, each with the commits that it brings beside the line. */
  readonly steps: readonly (LoadedStep & { readonly side: readonly LoadedStep[] })[]
  /** The start and every commit of the line. */
  readonly ids: ReadonlySet<CommitId>
  /** The line does not go through the start: what is said of the commit by which it joins it. */
  readonly besideFrom: CommitVerdict | null
}

/** Reads a line and what its merges bring: one process. */
export async function loadLine(
  verifier: Verifier,
  { start, tip, staged }: BranchRequest,
): Promise<BranchLine> {
  const { door } = verifier
  const include = staged === undefined ? (tip === null ? [] : [tip]) : staged.parents.slice(1)
  const walked = await walkCommits(door, { include, exclude: start === null ? [] : [start] })
  const commits = staged === undefined ? walked : [...walked, await pretend(staged, door)]
  const byId = new Map(commits.map((commit) => [commit.commit, commit]))
  const line: LoggedCommit[] = []
  for (let at = commits.at(-1)?.commit ?? null; at !== null; ) {
    const commit = byId.get(at)
    if (commit === undefined) break
    line.push(commit)
    at = commit.parents[0] ?? null
  }
  line.reverse()
  const sides = sidesOf(line, commits)
  const loaded = (logged: LoggedCommit): LoadedStep => ({ logged, step: sideStep(verifier, logged) })
  const steps = line.map((logged, i) => {
    const side = sides[i] ?? []
    return { logged, step: lineStep(verifier, logged, side, staged), side: side.map(loaded) }
  })
  const ids = new Set(line.map((commit) => commit.commit))
  if (start !== null) ids.add(start)
  return { start, steps, ids, besideFrom: await findBeside(door, { start, line, commits }) }
}

/** The staged commit in the form of those that exist. Its id is all zeros: nothing in the store has that. */
export async function pretend(staged: StagedCommit, door: GitDoor): Promise<LoggedCommit> {
  const none = zeroId(door.objectFormat)
  return {
    commit: commitId(none),
    tree: treeId(none),
    parents: staged.parents,
    committedAt: -1,
    message: staged.message,
    transitions: await staged.against(staged.parents[0] ?? emptyTree(door.objectFormat), null),
  }
}

/** For each commit of a line, what it is the first to bring, ancestors first. */
function sidesOf(
  line: readonly LoggedCommit[],
  commits: readonly LoggedCommit[],
): readonly (readonly LoggedCommit[])[] {
  const place = new Map(commits.map((commit, i) => [commit.commit, i]))
  const seen = new Set<CommitId>()
  return line.map(({ commit, parents }) => {
    seen.add(commit)
    const found: number[] = []
    for (const open = parents.slice(1); ; ) {
      const id = open.pop()
      if (id === undefined) break
      const at = place.get(id)
      if (at === undefined || seen.has(id)) continue
      seen.add(id)
      found.push(at)
      open.push(...(commits[at]?.parents ?? []))
    }
    return found.sort((a, b) => a - b).flatMap((at) => commits[at] ?? [])
  })
}

const lineStep = (
  verifier: Verifier,
  logged: LoggedCommit,
  side: readonly LoggedCommit[],
  staged: StagedCommit | undefined,
): LineStep => ({
  ...(staged === undefined ? sideStep(verifier, logged) : stagedStep(verifier, logged, staged)),
  side: async () => side,
})

/** A commit that is not of the line: what it brings itself is looked for when it is asked for. */
export const sideStep = ({ door }: Verifier, logged: LoggedCommit): LineStep => ({
  ...plainStep(logged),
  side: async () => {
    const [first, ...others] = logged.parents
    return walkCommits(door, { include: others, exclude: first === undefined ? [] : [first] })
  },
  against: (tree, place) => stepBetween(place, tree, logged.tree),
})

/** A commit that does not exist yet: what it holds is what the index holds. */
export const stagedStep = (verifier: Verifier, logged: LoggedCommit, staged: StagedCommit): LineStep => ({
  ...sideStep(verifier, logged),
  against: (tree, place) => staged.against(tree, join(place.gitDir, 'objects')),
})

/** Where the line joins the branch by another parent than the first. */
async function findBeside(
  door: GitDoor,
  found: {
    readonly start: CommitId | null
    readonly line: readonly LoggedCommit[]
    readonly commits: readonly LoggedCommit[]
  },
): Promise<CommitVerdict | null> {
  const { start, line, commits } = found
  if (start === null || line.length === 0 || line[0]?.parents[0] === start) return null
  const after = new Set<CommitId>([start])
  for (const { commit, parents } of commits) if (parents.some((one) => after.has(one))) after.add(commit)
  const joint = line.find(({ commit }) => after.has(commit)) ?? line.at(-1)
  if (joint === undefined) return null
  const steps = await stepBetween(door, start, joint.commit)
  return {
    commit: joint.commit,
    title: joint.message.split('\n', 1)[0] ?? '',
    verdict: 'unapproved',
    changes: [],
    paths: steps.map(({ path }) => shownPath(path)),
    reason: `the branch is at ${start.slice(0, 12)}, which is not on the first-parent line of this commit: merge into the branch (on it, \`git merge <the other>\`), or rebase onto it`,
  }
}
