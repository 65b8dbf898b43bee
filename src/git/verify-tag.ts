import { refuse } from '../model/error.ts'
import { limits } from '../model/limits.ts'
import { run } from '../sys/process.ts'
import { withTemporaryDirectory, writeTemporary } from '../sys/temporary.ts'

/** A tag object in its two parts: what was signed, and the signature over it. */
export interface SignedText {
  readonly payload: Buffer
  readonly signature: Buffer
}

/** What stands behind a tag's own text: nothing, an SSH signature, or something that is neither. */
export type TagSignature =
  | { readonly kind: 'none' }
  | { readonly kind: 'ssh'; readonly signed: SignedText }
  | { readonly kind: 'other' }

const KEYGEN = 'ssh-keygen'
const BEGIN = '-----BEGIN SSH SIGNATURE-----\n'
const BLOCK =
  /^-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/=]{1,76}\n){1,400}-----END SSH SIGNATURE-----\n$/

/**
 * Takes the signature off a tag object.
 *
 * @param bodyEnd - Where the tag's own text ends. Only a signature, and nothing else, may follow: what a reader of the text does
 * not see must not be under it.
 */
export function splitSignature(tag: Buffer, bodyEnd: number): TagSignature {
  const rest = tag.toString('latin1', bodyEnd)
  if (rest === '') return { kind: 'none' }
  if (!rest.startsWith(BEGIN) || !BLOCK.test(rest)) return { kind: 'other' }
  return { kind: 'ssh', signed: { payload: tag.subarray(0, bodyEnd), signature: tag.subarray(bodyEnd) } }
}

export interface SignatureQuestion {
  readonly signed: SignedText
  /** The address that the text claims to come from. */
  readonly address: string
  /** The bytes of the list of allowed signers (ssh-keygen(1), ALLOWED SIGNERS). */
  readonly signers: Uint8Array
  /** Moments at each of which the key must be valid: milliseconds since the epoch. */
  readonly momentsMs: readonly number[]
  /** `ssh-keygen` is looked for where git is. */
  readonly path: string
}

export type SignatureVerdict =
  /** `key`: the fingerprint, `SHA256:…`. */
  | { readonly kind: 'good'; readonly key: string }
  /**
   * `forged`: the signature is not over this text, or is another's than the text claims. `not-approved`: it is over this text, by a key that
   * is not allowed, or was not at one of the moments.
   */
  | {
      readonly kind: 'bad'
      readonly code: 'forged' | 'not-approved'
      readonly reason: string
      readonly key: string | null
    }

/**
 * Verifies an SSH signature as `git verify-tag` does (namespace `git`), and beyond it that the key is allowed for the very address that
 * the text names, at every moment given. Dates of the list without a zone are taken as UTC, so that every clone says the same.
 *
 * Reads no configuration and no repository, and the program is `ssh-keygen`: what it is given is all that counts. Its environment holds
 * PATH and nothing else of the caller's.
 *
 * @throws GalleyError `not-approved`, if the program is not installed: then nothing can be verified.
 */
export async function verifySignature(question: SignatureQuestion): Promise<SignatureVerdict> {
  return withTemporaryDirectory(async (directory) => {
    const signature = await writeTemporary(directory, 'signature', question.signed.signature)
    const signers = await writeTemporary(directory, 'signers', question.signers)
    const ask = (...args: readonly string[]) => keygen(question, directory, args)
    const times = [...new Set(question.momentsMs.map(utc))].map((moment) => `-Overify-time=${moment}`)
    const named = (time: string) => ['-n', 'git', '-f', signers, '-s', signature, time]
    const answers = await Promise.all(
      times.map((time) => ask('verify', ...named(time), '-I', question.address)),
    )
    const isGood = answers.every((answer) => answer.isGood)
    const goodKey = isGood ? keyOf(answers[0]) : null
    if (goodKey !== null) return { kind: 'good', key: goodKey }

    const genuine = await ask('check-novalidate', '-n', 'git', '-s', signature)
    if (!genuine.isGood) {
      return bad('forged', `the signature does not hold: ${firstWords(genuine.said)}`, null)
    }
    const key = keyOf(genuine)
    for (const [n, time] of times.entries()) {
      const answer = answers[n]
      if (answer === undefined || answer.isGood) continue
      const others = await ask('find-principals', '-f', signers, '-s', signature, time)
      return explain(question.address, key, answer.said, others)
    }
    return key === null ? bad('forged', 'the signature names no key', null) : { kind: 'good', key }
  })
}

/**
 * The key that ssh-keygen names as the signer: what stands last in its line. The address stands before it, and is anybody's text: it
 * may well look like a key.
 */
function keyOf(answer: Said | undefined): string | null {
  const [line = ''] = answer?.said.split('\n', 1) ?? []
  const name = line.startsWith('Good "git" signature ') ? (line.split(' key ').at(-1) ?? '') : ''
  return /^SHA256:[A-Za-z0-9+/=]+$/.test(name) ? name : null
}

/** Why a signature that is genuine is not enough. `others`: whose key it is by the list. */
function explain(address: string, key: string | null, said: string, others: Said): SignatureVerdict {
  const principals = others.isGood ? others.said.split('\n').filter((line) => line !== '') : []
  // A pattern may well mean this address; it then failed for another reason.
  const isAnothers = principals.every((one) => one !== address && !/[*?!]/.test(one))
  if (principals.length > 0 && isAnothers) {
    const whose = principals.join(', ').slice(0, 200)
    return bad(
      'forged',
      `it claims to come from ${address}, and its key ${key ?? ''} is that of ${whose}`,
      key,
    )
  }
  const first = firstWords(said)
  const why =
    first === '' || first.startsWith('No principal') ? `it is not in the list of allowed signers` : first
  return bad('not-approved', `the key ${key ?? ''} may not approve as ${address}: ${withoutPath(why)}`, key)
}

/** What ssh-keygen says beside that it could not verify. */
const firstWords = (said: string): string =>
  said.split('\n').find((line) => line !== '' && !line.startsWith('Could not verify')) ?? ''

/** ssh-keygen begins its remarks with the passing file and the line: the line alone means something to the reader. */
const withoutPath = (text: string): string =>
  text.replace(/^\S*\/signers:(\d+): /, (_, line: string) => `line ${line}: `)

const bad = (code: 'forged' | 'not-approved', reason: string, key: string | null): SignatureVerdict => ({
  kind: 'bad',
  code,
  reason,
  key,
})

interface Said {
  readonly isGood: boolean
  readonly said: string
}

async function keygen(
  { path, signed }: SignatureQuestion,
  cwd: string,
  args: readonly string[],
): Promise<Said> {
  const result = await run({
    file: KEYGEN,
    args: ['-Y', ...args],
    cwd,
    env: { PATH: path, LC_ALL: 'C', TZ: 'UTC' },
    input: signed.payload,
    timeoutMs: limits.gitTimeoutMs,
    outputMaxBytes: limits.approvalMaxBytes,
  }).catch((error: unknown) => refuseMissing(error))
  const said = `${result.stdout.toString('utf8')}\n${result.stderr.toString('utf8')}`.trim()
  return { isGood: result.exitCode === 0, said }
}

function refuseMissing(error: unknown): never {
  refuse(
    'not-approved',
    `signatures cannot be verified: ${KEYGEN} could not be started`,
    { program: KEYGEN, reason: error instanceof Error ? error.message : String(error) },
    'Install OpenSSH 8.9 or newer (the package openssh-client), on the PATH of galley.',
  )
}

/** A moment as ssh-keygen takes it, in the zone that it is run in: YYYYMMDDHHMMSS. */
const utc = (ms: number): string =>
  new Date(ms)
    .toISOString()
    .replace(/[-:T]/g, () => '')
    .slice(0, 14)
