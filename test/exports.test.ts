import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { isNode, parseSource, projectRoot } from './helpers/source-tree.ts'

/** Everything the library exports. A name that goes, or changes its meaning, breaks somebody's program. */
const VALUES = ['GalleyError', 'errorCodes', 'hintFor', 'meaningOf', 'open', 'version']
const TYPES = [
  'CallAnswer',
  'CallApproval',
  'CallKind',
  'CallScreen',
  'CaptureListing',
  'Captured',
  'ChangeView',
  'Collected',
  'CommitVerdict',
  'ErrorCode',
  'Fetched',
  'Galley',
  'Landed',
  'LandedAll',
  'OpenOptions',
  'Proposed',
  'Purged',
  'Pushed',
  'ReadFile',
  'Recovered',
  'Refusal',
  'RunOutcome',
  'Shown',
  'Status',
  'UndoPreview',
  'Undone',
  'Verdict',
  'Verification',
]

const CONSUMER = `
import { GalleyError, open, type ChangeView, type ErrorCode, type Galley } from 'git-galley'
import schema from 'git-galley/schema/batch.schema.json' with { type: 'json' }
const galley: Galley = await open('.')
const { change } = await galley.propose({ batch: { version: 1, title: 'x', edits: [] } })
const view: ChangeView = change
export const id: string = view.id
export const title: string = schema.$schema
try {
  await galley.land({ id })
} catch (error) {
  if (error instanceof GalleyError) { const code: ErrorCode = error.code; console.log(code) }
}
// @ts-expect-error an id is a string
await galley.show(1)
await galley.close()
`

function exportedNames(): readonly string[] {
  const file = parseSource('src/index.ts', readFileSync(join(projectRoot, 'src/index.ts'), 'utf8'))
  return file.nodes
    .filter((node) => node.type === 'ExportSpecifier')
    .map(({ exported }) => (isNode(exported) ? String(exported['name']) : ''))
    .sort()
}

describe('the library', () => {
  beforeAll(() => {
    expect(inject('buildFailure')).toBeNull()
  })

  test('exports these names and no others', async () => {
    const library = await import(pathToFileURL(join(projectRoot, 'dist/index.js')).href)
    expect(Object.keys(library).sort()).toEqual(VALUES)
    expect(exportedNames()).toEqual([...VALUES, ...TYPES].sort())
  })

  test('knows its version', async () => {
    const library = await import(pathToFileURL(join(projectRoot, 'dist/index.js')).href)
    const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))
    expect(library.version).toBe(manifest.version)
  })

  test('has declarations that a strict program compiles against, without skipLibCheck', () => {
    const folder = mkdtempSync(join(tmpdir(), 'galley-types-'))
    try {
      mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
      symlinkSync(projectRoot, join(folder, 'node_modules/git-galley'))
      symlinkSync(join(projectRoot, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
      writeFileSync(join(folder, 'consumer.mts'), CONSUMER)
      const options = [
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--target',
        'es2022',
        '--module',
        'nodenext',
      ]
      const types = ['--types', 'node', '--resolveJsonModule']
      const tsc = join(projectRoot, 'node_modules/typescript/bin/tsc')
      const result = spawnSync(
        process.execPath,
        [tsc, '--ignoreConfig', ...options, ...types, 'consumer.mts'],
        {
          cwd: folder,
          encoding: 'utf8',
        },
      )
      expect(result.stdout).toBe('')
      expect(result.status).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('the published schema', () => {
  test('is a JSON Schema of a batch that refuses unknown keys', () => {
    const schema = JSON.parse(readFileSync(join(projectRoot, 'schema/batch.schema.json'), 'utf8'))
    expect(schema.$schema).toMatch(/^https:\/\/json-schema\.org\//)
    expect(schema.additionalProperties).toBe(false)
    expect(Object.keys(schema.properties)).toContain('edits')
  })
})
