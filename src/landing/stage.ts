import { join } from 'node:path'
import type { ObjectReader } from '../git/objects.ts'
import { invariant, refuse } from '../model/error.ts'
import { type FileStep, newFile } from '../store/landing-journal.ts'
import { makePrivateDirectory } from '../sys/directories.ts'
import { eachAtOnce } from '../sys/each-at-once.ts'
import { blobHash, type HashName, piecesOf, standingOf } from '../sys/file-key.ts'
import { writeOnce } from '../sys/small-files.ts'
import {
  deviceOf,
  type StagedStat,
  type Surroundings,
  stageFile,
  stageLink,
  surroundingsOf,
} from '../sys/stage-file.ts'
import { STAGE_PARTS, stageName } from './own-places.ts'
import { Raced } from './place-files.ts'
import type { ContentSource, PlannedFile } from './plan.ts'

export interface StagedFiles {
  readonly steps: readonly FileStep[]
  /** By step. */
  readonly planned: readonly PlannedFile[]
  /** By step; null for deletions. */
  readonly stats: readonly (StagedStat | null)[]
  readonly made: readonly string[]
  readonly cleared: readonly { readonly path: string; readonly stage: string }[]
  /** Directories outside the landing's own that hold staged files, on other devices. */
  readonly extraStages: readonly string[]
}

export interface Staging {
  readonly landDir: string
  readonly workTree: string
  readonly hash: HashName
  readonly reader: ObjectReader
  /** Writes down which directories beside the user's files are about to be made. */
  readonly note: (stages: readonly string[]) => Promise<void>
}

/**
 * How many files are written and waited for at the same time: one flush of the device then serves several.
 */
const AT_ONCE = 8

/**
 * Writes every new file aside, on the device where it will go, and waits until the device has them. Nothing
 * of the user's changes.
 */
export async function stageFiles(staging: Staging, files: readonly PlannedFile[]): Promise<StagedFiles> {
  const { landDir, workTree } = staging
  const ordered = inOrder(files)
  const stages = new StageChoice(landDir, workTree)
  const made = new Set<string>()
  const cleared: { path: string; stage: string }[] = []
  const steps: FileStep[] = []
  const places: Surroundings[] = []
  for (const file of ordered) {
    const place = surroundingsOf(workTree, file.path) ?? {
      device: deviceOf(workTree),
      group: null,
      missing: missingBelow(file),
    }
    for (const directory of file.kind === 'create' ? place.missing : []) made.add(directory)
    const stage = stages.on(place.device, file.path, place.missing)
    if (file.kind === 'create' && file.standing.kind === 'directory') cleared.push({ path: file.path, stage })
    steps.push({ kind: file.kind, path: file.path, old: file.old, next: file.next, stage })
    places.push(place)
  }
  const extraStages = stages.all().filter((stage) => stage !== landDir)
  if (extraStages.length > 0) await staging.note(extraStages)
  await stages.make()
  // The names in these directories need not be durable: after a loss of power the bytes are found in the
  // object store.
  const stats: (StagedStat | null)[] = steps.map(() => null)
  await eachAtOnce(steps, AT_ONCE, async (step, n) => {
    const [file, place] = [ordered[n], places[n]]
    invariant(file !== undefined && place !== undefined, 'every step has its file')
    stats[n] = file.kind === 'delete' ? null : await stageOne(newFile(step, n), file, place, staging)
  })
  return { steps, planned: ordered, stats, made: [...made], cleared, extraStages }
}

/** Deletions first: they make room. Then by path, as the manifest is. */
const inOrder = (files: readonly PlannedFile[]): readonly PlannedFile[] => [
  ...files.filter((file) => file.kind === 'delete'),
  ...files.filter((file) => file.kind !== 'delete'),
]

/** Parents that will be made once the file in their way is gone. */
function missingBelow(file: PlannedFile): readonly string[] {
  if (file.standing.kind !== 'file-above' && file.standing.kind !== 'link-above') return []
  const first = file.standing.at.split('/').length
  const parts = file.path.split('/')
  return parts.slice(first - 1, -1).map((_, i) => parts.slice(0, first + i).join('/'))
}

async function stageOne(
  target: string,
  file: PlannedFile,
  place: Surroundings,
  staging: Staging,
): Promise<StagedStat> {
  const { content, next, path } = file
  invariant(content !== null && next !== null, 'a file that is written has content')
  const attributes = {
    executable: next.mode === '100755',
    permissions: file.permissions,
    owner: file.origin === null ? null : { uid: file.origin.owner, gid: file.origin.group },
    group: place.group,
  }
  const hasChanged = () => new Raced(path, 'changed while the change was landing')
  if (content.kind === 'standing') {
    // Of any size: it may have grown since the approval, which was for its mode.
    const stat = await stageFile(target, piecesOf(staging.workTree, path), attributes)
    const copied = standingOf(target, staging.hash)
    if (copied.kind !== 'file' || copied.id !== next.id) throw hasChanged()
    return stat
  }
  const bytes = await contentOf(content, path, staging)
  if (blobHash(bytes, staging.hash) !== next.id) throw hasChanged()
  return next.mode === '120000' ? stageLink(target, bytes) : stageFile(target, bytes, attributes)
}

async function contentOf(
  content: Exclude<ContentSource, { kind: 'standing' }>,
  path: string,
  staging: Staging,
): Promise<Buffer> {
  if (content.kind === 'bytes') return content.bytes
  const found = await staging.reader.contents(content.id)
  if (found !== null) return found.bytes
  return refuse('stale', `the blob ${content.id} of ${path} is not there any more`, {
    path,
    blob: content.id,
  })
}

/** Names cannot be moved from one device to another, so each device has its own place for staged files. */
class StageChoice {
  private readonly landDir: string
  private readonly workTree: string
  private readonly byDevice = new Map<number, string>()

  constructor(landDir: string, workTree: string) {
    this.landDir = landDir
    this.workTree = workTree
    this.byDevice.set(deviceOf(landDir), landDir)
  }

  on(device: number, path: string, missing: readonly string[]): string {
    const known = this.byDevice.get(device)
    if (known !== undefined) return known
    const existing = (missing[0] ?? path).split('/').slice(0, -1).join('/')
    const isRoot = deviceOf(this.workTree) === device
    const stage = join(this.workTree, isRoot ? '' : existing, stageName(this.landDir.split('/').at(-1) ?? ''))
    this.byDevice.set(device, stage)
    return stage
  }

  all(): readonly string[] {
    return [...this.byDevice.values()]
  }

  async make(): Promise<void> {
    for (const stage of this.all()) {
      for (const name of STAGE_PARTS) await makePrivateDirectory(join(stage, name))
      // So that a git command of the user's at that moment does not see it.
      if (stage !== this.landDir) await writeOnce(join(stage, '.gitignore'), '*\n')
    }
  }
}
