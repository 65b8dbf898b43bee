import { join } from 'node:path'
import type { Machine } from '../setup/clients.ts'
import type { CliContext } from './verb.ts'

/** Where the settings of clients lie on this machine; null = no HOME is set. */
export function machineOf({ env, platform }: Pick<CliContext, 'env' | 'platform'>): Machine | null {
  const home = env['HOME'] || env['USERPROFILE'] || ''
  return home === '' ? null : { home, platform, env }
}

/** Where galley keeps what it changed in them. */
export const stateDirectoryOf = ({ home, env }: Machine): string =>
  join(env['XDG_STATE_HOME'] || join(home, '.local/state'), 'galley/setup')
