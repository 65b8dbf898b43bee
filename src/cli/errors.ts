import { GalleyError, type Refusal } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { visible } from '../review/visible.ts'
import { overlapText } from './overlap-text.ts'

/** A fault of the command line itself. */
export const usageError = (message: string): GalleyError =>
  new GalleyError({ code: 'usage', message, data: {} })

/** The refusal with advice that names the verb that was called; null = none. */
export function ofVerb(refusal: Required<Refusal>, verb: string | null): Required<Refusal> {
  const help = verb === null ? 'galley help' : `galley ${verb} --help`
  return { ...refusal, hint: refusal.hint.replaceAll('galley <verb> --help', () => help) }
}

/** 0 done, 1 refused, 2 wrong command line, 255 a fault of galley's own. */
export const exitCodeOf = (code: Refusal['code']): number =>
  code === 'usage' ? 2 : code === 'internal' ? 255 : 1

/** For people, on stderr. Text from files, git or agents is made visible before a terminal sees it. */
export function errorText(refusal: Required<Refusal>): string {
  const head = `galley: ${refusal.code}: ${visible(refusal.message)}\n`
  return `${head}${othersText(refusal)}${pathsText(refusal)}${nearestText(refusal)}${overlapText(refusal.data)}hint: ${visible(refusal.hint)}\n`
}

/** Every failing edit of a batch, or every fault of its form, beside the first, which the message names. */
function othersText(refusal: Required<Refusal>): string {
  const rows = (name: string) =>
    Array.isArray(refusal.data[name]) ? (refusal.data[name] as readonly unknown[]).slice(1) : []
  const failures = (rows('failures') as readonly Refusal[]).map((f) => `${f.code}: ${f.message}`)
  const faults =
    refusal.code === 'invalid-batch'
      ? (rows('faults') as readonly Fault[]).map((f) => `${f.pointer} (line ${f.line}): ${f.message}`)
      : []
  return [...failures, ...faults].map((text) => `  also ${visible(text)}\n`).join('')
}

/** The paths that no approval covers, as a hook's refusal has them. */
function pathsText({ code, data }: Required<Refusal>): string {
  const paths = code === 'unapproved' || code === 'forged' ? data['paths'] : null
  if (!Array.isArray(paths)) return ''
  const shown = (paths as readonly string[])
    .slice(0, limits.failuresShown)
    .map((path) => `  ${visible(path)}\n`)
  const more = paths.length - shown.length
  return `${shown.join('')}${more > 0 ? `  and ${more} more\n` : ''}`
}

interface Fault {
  readonly pointer: string
  readonly line: number
  readonly message: string
}

/** The nearest place of a text that matched nowhere, if the refusal knows one. */
function nearestText(refusal: Required<Refusal>): string {
  const nearest = refusal.data['nearest']
  if (typeof nearest !== 'object' || nearest === null) return ''
  const { line, expected, found } = nearest as { line?: unknown; expected?: unknown; found?: unknown }
  if (typeof expected !== 'string' || typeof found !== 'string') return ''
  return `  nearest: line ${String(line)}\n    expected: ${visible(expected)}\n    found:    ${visible(found)}\n`
}
