import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * The dearer a room's tests, the earlier: both workers end at about the same time. What starts programs goes before what works in memory
 * alone, since every start copies the page tables of a worker that has grown.
 */
class DearestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = ['test/stories', 'test/flow/', 'test/hook/', 'test/landing/', 'test/git/', 'test/store/']
    const place = ({ moduleId }: TestSpecification) => {
      const at = order.findIndex((start) => relative(root, moduleId).startsWith(start))
      return at === -1 ? order.length : at
    }
    return (await super.sort(files)).sort((a, b) => place(a) - place(b))
  }
}

export default defineConfig({
  root,
  test: {
    include: ['test/**/*.test.ts'],
    // Kills, races, long properties and other peoples' tools: `npm run test:long`.
    exclude: process.env['GALLEY_LONG'] === '1' ? [] : ['test/**/*.long.test.ts'],
    globalSetup: ['test/helpers/build-once.ts'],
    setupFiles: ['test/helpers/clean-environment.ts'],
    // Ten times the runs take ten times as long.
    testTimeout: process.env['GALLEY_RUNS'] === undefined ? 60_000 : 600_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    // A worker loads the source once, not for each file: no test may rely on what a module remembers, or change it for others.
    isolate: false,
    sequence: { sequencer: DearestFirst },
  },
})
