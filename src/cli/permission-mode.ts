import type { PermissionMode } from '../model/policy.ts'
import type { Arguments } from './verb.ts'

/** The option by which a caller allows less than the policy does. */
export const permissionModeOption = {
  choices: ['read-only', 'read-write', 'full'],
  describe: 'The strictest of this and the policy counts',
} as const

export const permissionModeOf = (args: Arguments): { readonly permissionMode?: PermissionMode } =>
  args['permission-mode'] === undefined ? {} : { permissionMode: args['permission-mode'] as PermissionMode }
