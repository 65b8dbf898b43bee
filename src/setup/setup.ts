import {
  type ClientText,
  readClientFile,
  restoreClientFile,
  rewriteClientFile,
  writeClientFile,
} from '../flow/client-files.ts'
import { refuse } from '../model/error.ts'
import { type AgentClient, ENTRY, type Machine, type Scope, type ServerCommand } from './clients.ts'
import { jsonText } from './edit-json.ts'
import { tomlText } from './edit-toml.ts'
import { isSameValue, type SettingsText } from './settings-text.ts'

/** What is to be done to one client's settings. */
export interface PlannedWrite {
  readonly client: AgentClient
  readonly scope: Scope
  readonly path: string
  /** `add`: there is no entry; `replace`: there is another one; `same`: it is there. */
  readonly kind: 'add' | 'replace' | 'same'
  /** The entry of galley's name that stands there; null = none. */
  readonly found: unknown
  readonly before: ClientText
  readonly after: string
}

export interface SetupPlace {
  readonly scope: Scope
  /** Root of the work tree; for the user's own settings of no concern. */
  readonly root: string
  readonly machine: Machine
  /** Where galley keeps what it changed. */
  readonly stateDirectory: string
}

const formOf = ({ form }: AgentClient): SettingsText => (form === 'json' ? jsonText : tomlText)

/**
 * Says what setting up one client would write. Writes nothing.
 *
 * @throws GalleyError `parse-error`, for settings that galley cannot edit without touching what is not its own; the codes of `readClientFile`.
 */
export async function planSetup(
  client: AgentClient,
  server: ServerCommand,
  place: SetupPlace,
): Promise<PlannedWrite> {
  const { path, before } = await fileOf(client, place)
  const form = formOf(client)
  const way = [client.key, ENTRY]
  const entry = client.entry(server)
  const found = before === null ? undefined : form.find(before, way)
  const common = { client, scope: place.scope, path, before, found: found ?? null }
  if (isSameValue(found, entry)) return { ...common, kind: 'same', after: before ?? '' }
  const edited = form.set(before ?? '', way, entry)
  if (edited.kind === 'faulty') refuseEdit(path, edited.why)
  return { ...common, kind: found === undefined ? 'add' : 'replace', after: edited.text }
}

/** Writes what was planned, and keeps what was there. */
export async function applySetup(planned: PlannedWrite, { stateDirectory }: SetupPlace): Promise<void> {
  const { kind, before, after } = planned
  if (kind === 'same') return
  await writeClientFile(fileAt(planned.path, planned.scope), { before, after }, stateDirectory)
}

/** What became of galley's entry in one client's settings. */
export interface RemovedSetup {
  readonly path: string
  /** `restored`: the file is what it was before, to the byte; `taken-out`: others have written since; `none`: there is no entry. */
  readonly kind: 'restored' | 'taken-out' | 'none'
}

/** Takes galley's entry out of one client's settings. */
export async function removeSetup(client: AgentClient, place: SetupPlace): Promise<RemovedSetup> {
  const { path, before } = await fileOf(client, place)
  const form = formOf(client)
  const way = [client.key, ENTRY]
  if (before === null || form.find(before, way) === undefined) return { path, kind: 'none' }
  const file = fileAt(path, place.scope)
  if (await restoreClientFile(file, place.stateDirectory)) return { path, kind: 'restored' }
  const edited = form.remove(before, way)
  if (edited.kind === 'faulty') refuseEdit(path, edited.why)
  await rewriteClientFile(file, { before, after: edited.text }, place.stateDirectory)
  return { path, kind: 'taken-out' }
}

/** The entry of galley's name in a client's settings, for whoever looks whether it is there. */
export async function findSetup(client: AgentClient, place: SetupPlace) {
  const { path, before } = await fileOf(client, place)
  return { path, entry: before === null ? undefined : formOf(client).find(before, [client.key, ENTRY]) }
}

const fileAt = (path: string, scope: Scope) => ({ path, isProject: scope === 'project' })

/** The settings that there are; else those that the client would make. */
async function fileOf(client: AgentClient, place: SetupPlace) {
  const paths = client.files(place.scope, place)
  for (const path of paths) {
    const before = await readClientFile(fileAt(path, place.scope))
    if (before !== null) return { path, before }
  }
  return { path: paths[0] ?? '', before: null }
}

function refuseEdit(path: string, why: string): never {
  refuse(
    'parse-error',
    `${path}: ${why}`,
    { path },
    'Nothing was written. Put that right, or write the block of the README yourself.',
  )
}
