/**
 * One verb of the library in a process of its own, as another account if one is given. Arguments: the repository, its
 * environment as JSON, the account's number or `-`, and the verb with its request, as JSON. Prints the outcome.
 */
import { open } from '../../src/flow/galley.ts'

export type Verb =
  | { readonly verb: 'propose'; readonly batch: object }
  | { readonly verb: 'approve' | 'land'; readonly id: string }
  | { readonly verb: 'undo'; readonly target: string }
  | { readonly verb: 'status' | 'recover' | 'capture' | 'gc' | 'log' }

export type VerbOutcome =
  | { readonly ok: true; readonly id: string }
  /** `code` of whatever was thrown, public or not. */
  | { readonly ok: false; readonly code: string; readonly said: string }

async function run(dir: string, env: Record<string, string>, verb: Verb): Promise<string> {
  const galley = await open(dir, { env })
  try {
    switch (verb.verb) {
      case 'propose':
        return (await galley.propose({ batch: verb.batch })).change.id
      case 'approve':
        return (await galley.approve({ id: verb.id })).change.id
      case 'land':
        return (await galley.land({ id: verb.id })).change.id
      case 'undo':
        return (await galley.undo({ target: verb.target })).change.id
      case 'status':
        await galley.status()
        return ''
      case 'capture':
        return (await galley.capture()).change.id
      case 'gc':
        await galley.gc()
        return ''
      case 'log':
        return (await galley.log()).map(({ id, state }) => `${id} ${state}`).join('\n')
      case 'recover':
        await galley.recover()
        return ''
    }
  } finally {
    await galley.close()
  }
}

async function main([dir = '', env = '{}', account = '-', verb = '']: readonly string[]): Promise<void> {
  if (account !== '-') {
    process.setgroups?.([])
    process.setgid?.(Number(account))
    process.setuid?.(Number(account))
  }
  let outcome: VerbOutcome
  try {
    outcome = { ok: true, id: await run(dir, JSON.parse(env), JSON.parse(verb) as Verb) }
  } catch (error) {
    const { code = 'none', stack = '' } = error as { code?: string; stack?: string }
    outcome = { ok: false, code, said: stack }
  }
  process.stdout.write(JSON.stringify(outcome))
}

void main(process.argv.slice(2))
