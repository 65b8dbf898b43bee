import { carrySpans, changedSpans, type LineSpan } from '../../editing/touched-lines.ts'
import { type ChainLink, chainEntries, commitChain, type LinkEntry } from '../../git/commit-chain.ts'
import { findRenames } from '../../git/diff-tree.ts'
import type { CommitId } from '../../model/ids.ts'
import { limits } from '../../model/limits.ts'
import type { Manifest, Transition } from '../../model/manifest.ts'
import type { LaterFact } from '../../policy/undo-text.ts'
import type { ObjectsAside } from '../../store/objects-aside.ts'
import type { UndoStep } from './undo-target.ts'

/** A later commit that changed what an undo would change. */
export interface LaterCommit {
  readonly link: ChainLink
  readonly paths: readonly string[]
  readonly how: LaterFact['how']
}

export interface LaterSearch {
  readonly step: UndoStep
  /** What is searched for: transitions from the parent of `step.since` to it. */
  readonly own: Manifest
  /** Within the step: new path to old path. */
  readonly renames: ReadonlyMap<string, string>
  readonly conflictPaths: readonly string[]
  readonly tip: CommitId
}

/** One file of the step on its way through the later commits. */
interface Track {
  path: string
  /** null = not there: the step, or a later commit, deleted it. */
  blob: string | null
  spans: readonly LineSpan[]
  readonly isNew: boolean
  readonly isRenamed: boolean
  readonly hasNewMode: boolean
  readonly touches: { readonly link: ChainLink; readonly path: string; readonly how: LaterFact['how'] }[]
}

/** Conflicting files followed at a time; where there are more, the next ones are when these are out of the way. */
const FILES_FOLLOWED = 200
/** Commits whose differences are held in memory at a time. */
const COMMITS_AT_ONCE = 1_000

/**
 * Finds the later commits that changed the step's lines, or lines right beside them, or lines that those commits changed:
 * the conflicting files are followed version by version through the commits up to the tip, under every name.
 *
 * @returns Oldest first; empty where nobody is found, or where there is too much to search.
 */
export async function findLater(aside: ObjectsAside, search: LaterSearch): Promise<readonly LaterCommit[]> {
  const range = { from: search.step.since.commit, to: search.tip, most: limits.undoSearchedCommits }
  const chain = await commitChain(aside.door, range)
  if (chain === null || chain.length === 0) return []
  const followed = await followedPaths(aside, search)
  const tracks = await Promise.all(followed.map((t) => startTrack(aside, search, t)))
  const paths = new Set(search.conflictPaths)
  const named: LaterCommit[] = []
  for (let at = 0; at < chain.length; at += COMMITS_AT_ONCE) {
    const some = chain.slice(at, at + COMMITS_AT_ONCE)
    const entries = await chainEntries(aside.door, some)
    for (const link of some) {
      const changed = entries.get(link.commit) ?? []
      for (const track of tracks) await follow(aside, track, link, changed)
      named.push(...byPath(link, changed, paths))
    }
  }
  const found = collect(chain, tracks)
  return found.length > 0 ? found : named
}

/** The step's own files among those in conflict, which may have other names by now; all, where none is. */
async function followedPaths(aside: ObjectsAside, search: LaterSearch): Promise<Manifest> {
  const { own, renames } = search
  const paths = new Set(search.conflictPaths)
  const isOwn = (path: string): boolean => own.some((t) => t.path === path)
  if (!search.conflictPaths.every(isOwn)) {
    const since = await findRenames(aside.door, search.step.since.commit, search.tip)
    for (const [now, then] of since) if (paths.has(now)) paths.add(then)
  }
  const wanted = own.filter((t) => paths.has(t.path) || paths.has(renames.get(t.path) ?? t.path))
  return (wanted.length > 0 ? wanted : own).slice(0, FILES_FOLLOWED)
}

async function startTrack(aside: ObjectsAside, search: LaterSearch, t: Transition): Promise<Track> {
  const origin = search.renames.get(t.path)
  const source = origin === undefined ? t : (search.own.find((o) => o.path === origin) ?? t)
  const isGone = t.newMode === '000000'
  const [before, after] = await Promise.all([
    source.oldMode === '000000' ? null : bytesOf(aside, source.oldBlob),
    isGone ? null : bytesOf(aside, t.newBlob),
  ])
  return {
    path: t.path,
    blob: isGone ? null : t.newBlob,
    spans: changedSpans(before, after),
    isNew: source.oldMode === '000000',
    isRenamed: origin !== undefined,
    hasNewMode: !isGone && source.oldMode !== '000000' && source.oldMode !== t.newMode,
    touches: [],
  }
}

const bytesOf = async (aside: ObjectsAside, blob: string): Promise<Uint8Array | null> =>
  (await aside.stored.contents(blob))?.bytes ?? null

async function follow(
  aside: ObjectsAside,
  track: Track,
  link: ChainLink,
  entries: readonly LinkEntry[],
): Promise<void> {
  for (const entry of entries) {
    const how = track.blob === null ? comesBack(track, entry) : await meets(aside, track, entry)
    if (how !== null) track.touches.push({ link, path: entry.path, how })
  }
}

/** Something new where the step's file is gone: the same name, or one that cannot stand beside it. */
function comesBack(track: Track, entry: LinkEntry): LaterFact['how'] | null {
  if (entry.status !== 'added' && entry.status !== 'renamed') return null
  const isInTheWay = entry.path.startsWith(`${track.path}/`) || track.path.startsWith(`${entry.path}/`)
  if (entry.path !== track.path) return isInTheWay ? 'added' : null
  track.blob = entry.newBlob
  track.spans = changedSpans(null, null)
  return 'added'
}

/** What a commit did to the file, if it touched what the step had changed. */
async function meets(aside: ObjectsAside, track: Track, entry: LinkEntry): Promise<LaterFact['how'] | null> {
  if (entry.from !== track.path || entry.status === 'added') return null
  if (entry.status === 'deleted') {
    track.blob = null
    return 'deleted'
  }
  const isTouched = entry.newBlob !== track.blob && (await carry(aside, track, entry.newBlob))
  if (entry.status === 'renamed') {
    track.path = entry.path
    if (track.isNew || track.isRenamed) return 'renamed'
  }
  if (isTouched || (track.isNew && entry.oldBlob !== entry.newBlob)) return 'lines'
  return track.hasNewMode && entry.oldMode !== entry.newMode ? 'mode' : null
}

async function carry(aside: ObjectsAside, track: Track, newBlob: string): Promise<boolean> {
  const [before, after] = await Promise.all([bytesOf(aside, track.blob ?? ''), bytesOf(aside, newBlob)])
  track.blob = newBlob
  // A submodule's commit, or a blob that a partial clone lacks: it has no lines to compare.
  if (before === null || after === null) return true
  const carried = carrySpans(track.spans, { before, after })
  track.spans = carried.spans
  return carried.isTouched
}

function collect(chain: readonly ChainLink[], tracks: readonly Track[]): readonly LaterCommit[] {
  const touches = tracks.flatMap((track) => track.touches)
  return chain.flatMap((link) => {
    const own = touches.filter((touch) => touch.link === link)
    const [first] = own
    if (first === undefined) return []
    const how = own.find((touch) => touch.how === 'deleted')?.how ?? first.how
    return [{ link, paths: [...new Set(own.map((touch) => touch.path))], how }]
  })
}

/** Where lines tell nothing: a later commit that changed a conflicting path. */
function byPath(
  link: ChainLink,
  entries: readonly LinkEntry[],
  paths: ReadonlySet<string>,
): readonly LaterCommit[] {
  const own = entries.filter((e) => paths.has(e.path) || paths.has(e.from))
  const how = own.some((e) => e.status === 'deleted') ? 'deleted' : 'lines'
  return own.length === 0 ? [] : [{ link, paths: own.map((e) => e.path), how }]
}
