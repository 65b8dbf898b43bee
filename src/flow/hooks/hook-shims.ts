import { join } from 'node:path'
import { refuse } from '../../model/error.ts'
import type { HookName } from '../../model/hook.ts'
import { realPath } from '../../sys/real-path.ts'
import { readFileOrNull } from '../../sys/small-files.ts'

/** What the shims are made of, and what they are to call. */
export interface Shims {
  /** The package's `hooks/`. */
  readonly directory: string
  /** The program that node runs. */
  readonly program: string
  readonly node: string
  /** For the hooks of a server: the list of allowed signers that they name, absolute. Left out: that of the branch's policy. */
  readonly allowedSigners?: string
}

/** The shims of the package that a program belongs to: `dist/galley.js` has them in `../hooks`. */
export async function shimsOf(program: string, node: string): Promise<Shims> {
  const real = await realPath(program)
  return { directory: join(real, '../../hooks'), program: real, node }
}

const NO_SIGNERS = "\nsigners='' "
const UNFILLED = "\nnode='' galley='' # filled in by `galley hooks install`\n"

/**
 * The shim of one hook, with the absolute paths of node and galley in it: a hook may run where PATH is another, as from a graphical
 * program.
 *
 * @throws GalleyError `io-error`, if the package has no such shim.
 */
export async function shimText(shims: Shims, name: HookName): Promise<string> {
  const file = join(shims.directory, name)
  const text = (await readFileOrNull(file))?.toString('utf8') ?? ''
  if (!text.includes(UNFILLED)) refuse('io-error', `the shim of the hook ${name} is not at ${file}`, { file })
  const filled = `\nnode=${quoted(shims.node)} galley=${quoted(shims.program)} # filled in by \`galley hooks install\`\n`
  const signers = `\nsigners=${quoted(shims.allowedSigners ?? '')} `
  return text.replace(UNFILLED, () => filled).replace(NO_SIGNERS, () => signers)
}

/** The list of allowed signers that an installed hook of a server names. */
export async function signersOfShim(path: string): Promise<string | undefined> {
  const text = (await readFileOrNull(path))?.toString('utf8') ?? ''
  const word = /^signers=('(?:[^'\n]|'\\'')+') # --allowed-signers /m.exec(text)?.[1]
  return word?.slice(1, -1).replaceAll("'\\''", () => "'")
}

/** For `sh`: one word, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", () => `'\\''`)}'`
