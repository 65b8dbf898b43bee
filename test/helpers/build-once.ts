import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type {} from 'vitest'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** What the build said when it failed, or null. Only tests that start the command ask. */
    readonly buildFailure: string | null
  }
}

/** Builds the command before the tests, when it is older than what it is made of. */
export function setup(project: TestProject): void {
  const root = project.config.root
  project.provide('buildFailure', isStale(root) ? build(root) : null)
}

function build(root: string): string | null {
  const result = spawnSync(process.execPath, [join(root, 'src/build.mjs')], { encoding: 'utf8' })
  return result.status === 0 ? null : `${result.stdout}${result.stderr}`
}

function isStale(root: string): boolean {
  const built = statSync(join(root, 'dist/index.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join('src', name),
  )
  return ['package.json', 'package-lock.json', ...sources].some(
    (name) => statSync(join(root, name)).mtimeMs > built,
  )
}
