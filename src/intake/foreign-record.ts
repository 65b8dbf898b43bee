import type { Agent } from '../model/batch.ts'
import type { Approval, ChangeEvent, CheckResult, CommentWords, Revision } from '../model/change.ts'
import { tiers } from '../model/edit.ts'
import { assertNever } from '../model/error.ts'
import { idLength, type ObjectFormat } from '../model/ids.ts'
import { limits } from '../model/limits.ts'
import type { Manifest } from '../model/manifest.ts'
import { checkPlace } from '../policy/paths.ts'

/**
 * Records that another clone wrote. They have the form of a record already (`model/read-record.ts`); what is asked here is whether galley could
 * have written them, before anything of them reaches a ref, a path or a terminal.
 *
 * @returns In each case null, or what is wrong.
 */
export function eventFault(event: ChangeEvent, format: ObjectFormat): string | null {
  const isRule = event.kind === 'approved' && event.via === 'rule'
  return commonFault(event, isRule) ?? memberFault(event, format)
}

const PERSON = /^[^<>\p{Cc}\u2028\u2029]{0,500}<[^<>\p{Cc}\u2028\u2029]{0,500}>$/u
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
const VIA: readonly string[] = ['terminal', 'cli', 'web', 'mcp-client', 'rule'] satisfies Approval['via'][]
const OUTCOMES: readonly string[] = [
  'passed',
  'failed',
  'timed-out',
  'missing',
] satisfies CheckResult['outcome'][]
const HASH = /^[0-9a-f]{64}$/

const isMoment = (text: string): boolean => MOMENT.test(text) && !Number.isNaN(Date.parse(text))

/** What a rule approves is by `rule`, and by nobody. */
function commonFault(
  { at, by }: { readonly at: string; readonly by: string },
  isRule: boolean,
): string | null {
  if (!isMoment(at)) return 'it does not say when, as galley writes it'
  return PERSON.test(by) || (isRule && by === 'rule') ? null : 'it does not say by whom, as git writes people'
}

function memberFault(event: ChangeEvent, format: ObjectFormat): string | null {
  switch (event.kind) {
    case 'proposed':
      return proposalFault(event, format)
    case 'staged':
    case 'restaged':
      return longFault(event.reason) ?? wordingFault(event) ?? revisionFault(event.revision, format)
    case 'checked':
      return checksFault(event.checks, format)
    case 'commented':
      return commentFault(event)
    case 'approved':
      return idFault(event.tag, format) ?? viaFault(event.via)
    case 'rejected':
    case 'stale':
      return longFault(event.reason)
    case 'landed':
      return (
        idFault(event.landing.after, format) ??
        idFault(event.landing.before, format) ??
        branchFault(event.landing.ref)
      )
    case 'undone':
      return idFault(event.commit, format)
    default:
      return assertNever(event)
  }
}

function commentFault({ text, path, about }: CommentWords): string | null {
  const lines = about?.lines ?? []
  return (
    longFault(text) ??
    (path === undefined ? null : pathFault(path)) ??
    (lines.length <= limits.quotedLinesMax ? null : `a comment quotes ${lines.length} lines`) ??
    firstFault(lines, (line) =>
      line.length <= limits.quotedLineMaxCharacters + 1 ? null : 'a line that a comment quotes is too long',
    )
  )
}

function proposalFault(
  event: Extract<ChangeEvent, { kind: 'proposed' }>,
  format: ObjectFormat,
): string | null {
  const commits = [...event.undoes, ...(event.undoesPartly ?? []), ...event.redoes]
  return (
    wordingFault(event) ??
    lineFault(event.key ?? '') ??
    branchFault(event.onto) ??
    firstFault(commits, (id) => idFault(id, format))
  )
}

interface Wording {
  readonly title?: string
  readonly body?: string
  readonly agent?: Agent | null
}

const wordingFault = ({ title = '', body = '', agent }: Wording): string | null =>
  firstFault([title, agent?.name ?? '', agent?.model ?? '', agent?.session ?? ''], lineFault) ??
  longFault(body)

const lineFault = (text: string): string | null =>
  text.length > limits.nameMaxCharacters || /\p{Cc}/u.test(text)
    ? 'a title or name of it is no single line of a usual length'
    : null

/** Where a change may land: a branch by git's rules for names, or a detached head. */
function branchFault(ref: string): string | null {
  if (ref === 'HEAD') return null
  const fault = `${JSON.stringify(ref.slice(0, 100))} is no branch`
  if (ref.length > limits.nameMaxCharacters || !ref.startsWith('refs/heads/')) return fault
  if (/[\s~^:?*[\\\p{Cc}\p{Cf}]/u.test(ref) || ref.includes('..') || ref.includes('@{')) return fault
  const isPart = (part: string) =>
    part !== '' &&
    !part.startsWith('.') &&
    !part.startsWith('-') &&
    !part.endsWith('.') &&
    !part.endsWith('.lock')
  return ref.split('/').every(isPart) ? null : fault
}

function revisionFault(revision: Revision, format: ObjectFormat): string | null {
  const { number, commit, tree, base, manifest, files, remarks, reads } = revision
  if (number < 1 || number > limits.revisionsMax) return `a revision is numbered ${number}`
  const ids = [commit, tree, base]
  const paths = [...files, ...remarks, ...reads].map((one) => one.path)
  const renamed = files.flatMap((file) => file.renamedFrom ?? [])
  const texts = remarks.map((remark) => remark.text)
  const tier = files.find((file) => !tiers.includes(file.tier))
  if (tier !== undefined) return `${JSON.stringify(tier.tier)} is no tier`
  return (
    firstFault(ids, (id) => idFault(id, format)) ??
    manifestFault(manifest, format) ??
    firstFault([...paths, ...renamed], pathFault) ??
    firstFault(texts, longFault)
  )
}

/** What may be landed: paths that no reader of requests would refuse, and regular files. */
function manifestFault(manifest: Manifest, format: ObjectFormat): string | null {
  return firstFault(manifest, ({ path, newMode, oldBlob, newBlob }) => {
    if (newMode === '120000' || newMode === '160000') return `${path} would become a link or a submodule`
    return pathFault(path) ?? idFault(oldBlob, format) ?? idFault(newBlob, format)
  })
}

const pathFault = (path: string): string | null => checkPlace(path)?.message ?? null

const checksFault = (checks: readonly CheckResult[], format: ObjectFormat): string | null =>
  firstFault(checks, ({ name, commit, outcome, summary }) =>
    !OUTCOMES.includes(outcome) || name.length > limits.nameMaxCharacters
      ? 'it holds what is no result of a check'
      : (idFault(commit, format) ?? longFault(summary)),
  )

/** The body of an approval's tag. */
export function approvalFault(body: Omit<Approval, 'tag'>, format: ObjectFormat): string | null {
  const { commit, base, tree, via, expires, messageHash, policyHash, rule } = body
  if (expires !== null && !isMoment(expires)) return 'it does not say when it expires, as galley writes it'
  if (!HASH.test(messageHash) || !HASH.test(policyHash)) return 'it holds a digest that is none'
  return (
    commonFault(body, via === 'rule') ??
    firstFault([commit, base, tree, rule?.commit ?? null], (id) => idFault(id, format)) ??
    viaFault(via) ??
    longFault(rule?.text ?? '') ??
    checksFault(body.checks, format)
  )
}

const viaFault = (via: string): string | null => (VIA.includes(via) ? null : 'it names no way of approving')

const idFault = (id: string | null, format: ObjectFormat): string | null =>
  id === null || id.length === idLength(format) ? null : 'it names objects of another format'

const longFault = (text: string): string | null =>
  text.length <= limits.bodyMaxBytes ? null : `a text of it has ${text.length} characters`

function firstFault<T>(items: readonly T[], faultOf: (item: T) => string | null): string | null {
  for (const item of items) {
    const fault = faultOf(item)
    if (fault !== null) return fault
  }
  return null
}
