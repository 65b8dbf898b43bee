import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
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
  },
})
