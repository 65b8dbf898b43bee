import type { LoggedChange } from '../store/change-log.ts'
import { fetchedRef } from '../store/change-refs.ts'

/** Whether a part of the change's log was written in another clone. */
export const isForeign = ({ refs, change }: Pick<LoggedChange, 'refs' | 'change'>): boolean =>
  refs.rows.some((row) => row.ref === fetchedRef(change.id))
