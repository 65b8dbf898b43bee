import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The program of `kill-at.c`. */
export interface Killer extends Disposable {
  /** What to put before a command, to have it killed at the call with the number given; 0 = it is not. */
  readonly at: (nth: number) => readonly string[]
}

/**
 * Compiles the killer. Needs Linux and `cc`.
 *
 * @param source - Path from the project's root, which is where benches run.
 */
export function compileKiller(source = 'test/bench/kill-at.c'): Killer {
  const directory = mkdtempSync(join(tmpdir(), 'galley-kill-at-'))
  const program = join(directory, 'kill-at')
  execFileSync('cc', ['-O2', '-Wall', '-o', program, source], { stdio: 'inherit' })
  return {
    at: (nth) => [program, String(nth)],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** How a command under the killer ended: the call that it was killed at, or null and how many there were. */
export function outcomeOf({ said }: { readonly said: string }): {
  readonly killed: string | null
  readonly calls: number
} {
  const [, how, count, what = ''] = /^(killed|counted) (\d+) ?(.*)$/m.exec(said) ?? []
  if (how === undefined) throw new Error(`the killer told nothing: ${said}`)
  return { killed: how === 'killed' ? what : null, calls: Number(count) }
}
