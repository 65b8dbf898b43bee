import { join } from 'node:path'
import type { ObjectFormat } from '../model/ids.ts'
import type { ProcessIdentity } from '../sys/process-identity.ts'
import { writeNamedDurably } from '../sys/small-files.ts'

/** A file as the journal knows it: the blob id of its bytes as they stand, and its mode. */
export interface FileKey {
  readonly mode: string
  readonly id: string
}

/**
 * What a landing does to one path of the work tree. The new bytes wait in `<stage>/new/<n>`, the old ones go
 * to `<stage>/old/<n>`, n being the step's place in the list.
 */
export interface FileStep {
  readonly kind: 'write' | 'create' | 'delete'
  readonly path: string
  readonly old: FileKey | null
  readonly next: FileKey | null
  /** A directory on the same device as the path. */
  readonly stage: string
}

export interface IndexStep {
  readonly path: string
  /** null = no entry. */
  readonly from: FileKey | null
  readonly to: FileKey | null
  readonly skipWorktree: boolean
}

/**
 * Everything that is needed to finish or undo one landing after its process has ended. Written before
 * anything moves.
 */
export interface LandingJournal {
  readonly version: 1
  readonly id: string
  readonly label: string
  readonly owner: ProcessIdentity
  /** Of the `git update-ref` that holds the ref's locks. */
  readonly refProcess: ProcessIdentity
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly objectFormat: ObjectFormat
  readonly gitDir: string
  readonly workTree: string
  readonly ref: string
  readonly before: string | null
  readonly after: string
  readonly files: readonly FileStep[]
  /** Emptied directories that make room for a file of their name; they go to `<stage>/directories/<n>`. */
  readonly cleared: readonly { readonly path: string; readonly stage: string }[]
  /** Directories that were absent, outermost first. */
  readonly made: readonly string[]
  readonly indexFile: string
  /** The index that the new one was made from. */
  readonly indexBasis: string
  readonly index: readonly IndexStep[]
}

export const landRoot = (galleyDir: string): string => join(galleyDir, 'land')
export const doneRoot = (galleyDir: string): string => join(galleyDir, 'done')
export const landDirectory = (galleyDir: string, id: string): string => join(landRoot(galleyDir), id)

export const newFile = (step: Pick<FileStep, 'stage'>, n: number): string =>
  join(step.stage, 'new', String(n))
export const oldFile = (step: Pick<FileStep, 'stage'>, n: number): string =>
  join(step.stage, 'old', String(n))
export const goneFile = (step: Pick<FileStep, 'stage'>, n: number): string =>
  join(step.stage, 'gone', String(n))
export const clearedDirectory = (stage: string, n: number): string => join(stage, 'directories', String(n))

/** The content of an `index.lock` of ours: tells whose it is, and nobody else writes the like. */
export const indexLockText = (id: string): string => `galley ${id}\n`

/** What a landing's id is made of; its folder is named after it. */
const ID_CHARACTERS = String.raw`[\w.-]`

/** A new id of a landing, that tells what it is for. */
export const landingId = (label: string, random: Uint8Array): string =>
  `${label.replaceAll(new RegExp(`(?!${ID_CHARACTERS}).`, 'gsu'), '_')}-${Buffer.from(random).toString('hex')}`

const OWN_LOCK = new RegExp(`^galley (${ID_CHARACTERS}+)\\n$`)

/** The landing that an `index.lock` with this content belongs to; null = it is none of ours. */
export const indexLockOwner = (text: string): string | null => OWN_LOCK.exec(text)?.[1] ?? null

export async function writeJournal(directory: string, journal: LandingJournal): Promise<void> {
  await writeNamedDurably(join(directory, 'journal.json'), `${JSON.stringify(journal)}\n`, 0o600)
}
