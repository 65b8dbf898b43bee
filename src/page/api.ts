import type { DraftAction, ReviewDraft } from '../review/draft.ts'
import type { PageChange, PageList, PageRefusal } from './page-values.ts'

/** What the server said instead of an answer. */
export class Refused extends Error {
  readonly refusal: PageRefusal
  constructor(refusal: PageRefusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

const LOST: PageRefusal = {
  code: 'unreachable',
  message: 'galley does not answer',
  hint: 'What was decided is kept. Start `galley review --web` again; it prints a new address.',
}

async function ask<T>(path: string, body?: object): Promise<T> {
  const request: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const response = await fetch(path, request).catch(() => null)
  if (response === null) throw new Refused(LOST)
  const value: unknown = await response.json().catch(() => null)
  if (response.ok) return value as T
  throw new Refused((value as { readonly error?: PageRefusal } | null)?.error ?? LOST)
}

export type Does = 'land' | 'approve' | 'send-back' | 'comment'

export interface FinishedPage {
  readonly kind: 'landed' | 'approved' | 'sent-back' | 'commented' | 'held'
  readonly state: string
  readonly revision: number
}

const at = (id: string, what = ''): string => `/api/changes/${encodeURIComponent(id)}${what}`

export const api = {
  session: (token: string) => ask<object>('/api/session', { token }),
  list: () => ask<PageList>('/api/changes'),
  change: (id: string) => ask<PageChange>(at(id)),
  draft: (id: string) => ask<ReviewDraft>(at(id, '/draft')),
  act: (id: string, actions: readonly DraftAction[]) => ask<ReviewDraft>(at(id, '/act'), { actions }),
  finish: (id: string, digest: string, does: Does) => ask<FinishedPage>(at(id, '/finish'), { digest, does }),
  image: (id: string, fileKey: string, side: 'before' | 'after') =>
    at(id, `/image/${encodeURIComponent(fileKey)}/${side}`),
}
