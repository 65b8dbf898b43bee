import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/** A program in one file that node can run: it does not run TypeScript by itself. */
export interface BundledProgram {
  readonly program: string
  readonly remove: () => void
}

/**
 * Bundles a program of the tests into the system's temporary directory.
 *
 * @param source - Path from the project's root, which is where tests and benches run.
 */
export async function bundleProgram(source: string): Promise<BundledProgram> {
  const directory = mkdtempSync(join(tmpdir(), 'galley-program-'))
  const program = join(directory, `${basename(source, '.ts')}.cjs`)
  const how = { bundle: true, platform: 'node', target: 'node20', format: 'cjs', logLevel: 'error' } as const
  await build({ ...how, entryPoints: [source], outfile: program })
  return { program, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
