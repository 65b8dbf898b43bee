import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, parseSource, type SourceFile, sourceFiles } from './helpers/source-tree.ts'

interface Room {
  /** Rooms of src/, or single files of them, that it may import. */
  readonly src: readonly string[]
  readonly node: readonly string[] | 'any'
  readonly npm: readonly string[]
}

const room = (src: string, node: string | 'any' = '', npm = ''): Room => ({
  src: words(src),
  node: node === 'any' ? 'any' : words(node),
  npm: words(npm),
})
const words = (text: string) => text.split(' ').filter((word) => word !== '')

const SURFACE = 'model flow review'

/** One row for each room, and for a file that differs from its room: what it may import from src/, node, packages. */
const ROOMS: Readonly<Record<string, Room>> = {
  model: room(''),
  // Pure: no machine, no clock, no chance.
  intake: room('model policy', '', 'zod'),
  policy: room('model intake/json.ts', '', 'picomatch'),
  dialects: room('model policy'),
  'dialects/git-binary.ts': room('model policy', 'zlib'),
  editing: room('model'),
  'editing/blob-of.ts': room('model', 'crypto'), // the id of bytes that a batch itself made, as git gives it
  review: room('model editing', '', 'diff3'),
  // The machine, git, and what is kept in it.
  sys: room('model', 'any', 'pino'),
  git: room('model sys', 'path crypto', 'isomorphic-git simple-git'),
  store: room('model sys git policy', 'path async_hooks'), // the second knows whether this very call holds the lock
  landing: room('model policy git sys store', 'path'),
  checks: room('model sys git store policy', 'path'),
  flow: room('model intake dialects editing policy review git store landing checks sys', 'path'),
  // Surfaces: values of the flow in, text out; never each other.
  cli: room(SURFACE, 'process path url tty readline stream', 'yargs @clack/prompts'),
  'cli/verbs/hook.ts': room(`${SURFACE} hook`, 'path'), // `galley hook` is the command line's door to the room of the hooks
  'cli/verbs/setup.ts': room(`${SURFACE} setup`, 'path'), // and for `galley setup`
  'cli/verbs/doctor.ts': room(`${SURFACE} setup`, 'process'), // it tries the doors that setup made
  'cli/setup-place.ts': room(`${SURFACE} setup`, 'path'),
  'cli/verbs/mcp.ts': room(`${SURFACE} mcp`, 'path'), // the same for `galley mcp`
  'cli/verbs/acp.ts': room(`${SURFACE} acp`, 'process'),
  'cli/main.ts': room(`${SURFACE} sys/clock.ts intake/nearest.ts`), // where the clock is handed to everything below
  'cli/input.ts': room(SURFACE, 'path fs'), // the file that the command line names is the user's, wherever it lies
  'cli/pager.ts': room(SURFACE, 'child_process'), // the pager is run by the user's shell, as git runs it
  'cli/demo.ts': room(`${SURFACE} sys`, 'path url os fs'), // plays the user: makes a repository and runs the command
  'cli/review-lines.ts': room(`${SURFACE} term`), // the doors to the terminal's own views
  'cli/review-screen.ts': room(`${SURFACE} term`, 'stream'),
  'cli/editor.ts': room(`${SURFACE} sys`, 'path child_process'), // the editor is run by the user's shell, as git runs it
  'cli/review-web.ts': room(`${SURFACE} web`, 'path'), // and to the page
  'cli/verbs/connect.ts': room(`${SURFACE} remote`, 'process'), // and for both ends of Agent Zero's protocol
  'cli/verbs/hub.ts': room(`${SURFACE} remote mcp`),
  term: room(SURFACE, 'readline stream'),
  'term/syntax.ts': room(SURFACE, 'worker_threads'), // grammars run in a thread that can be ended
  'term/syntax-worker.ts': room('', 'worker_threads', '@speed-highlight/core'),
  'term/word-marks.ts': room(SURFACE, '', 'diff'),
  web: room(`${SURFACE} page/page-values.ts`, 'http net crypto fs path', 'hono @hono/node-server'),
  // Runs in a browser: no machine, no flow.
  page: room('review/draft.ts', '', 'preact diff'),
  remote: room(SURFACE, 'crypto readline stream http', 'socket.io socket.io-client'),
  hook: room('model flow'),
  acp: room(`${SURFACE} intake/line-scanner.ts intake/message-limits.ts`, 'stream path url'),
  mcp: room(
    `${SURFACE} intake/line-scanner.ts intake/message-limits.ts`,
    'stream crypto http net',
    '@modelcontextprotocol/server zod',
  ),
  setup: room(SURFACE, 'path', 'jsonc-parser smol-toml'),
  'index.ts': room('model flow'),
}

const roomOf = (path: string): string => {
  const inner = posix.relative('src', path)
  return inner in ROOMS ? inner : (inner.split('/')[0] ?? '')
}

function importProblems(file: SourceFile): readonly string[] {
  const name = roomOf(file.path)
  const allowed = ROOMS[name]
  if (allowed === undefined) return [`${file.path}: no room named ${name}; add a row for it, with its reason`]
  return importsOf(file).flatMap(({ specifier, line }) => {
    const what = refusedImport(file.path, allowed, specifier)
    return what === null ? [] : [`${file.path}:${line}: ${name} may not import ${what}`]
  })
}

function refusedImport(from: string, allowed: Room, specifier: string): string | null {
  if (specifier.startsWith('node:')) {
    const module = specifier.slice('node:'.length).split('/')[0] ?? ''
    return allowed.node === 'any' || allowed.node.includes(module) ? null : specifier
  }
  if (specifier.startsWith('.')) {
    const target = posix.relative('src', posix.join(posix.dirname(from), specifier))
    const folder = target.split('/')[0] ?? ''
    const isOwn = target.includes('/') && folder === posix.relative('src', from).split('/')[0]
    return isOwn || allowed.src.includes(folder) || allowed.src.includes(target) ? null : target
  }
  return allowed.npm.some((name) => specifier === name || specifier.startsWith(`${name}/`)) ? null : specifier
}

/** What each file of src/ imports from src/, types included. */
const importGraph = (files: readonly SourceFile[]): Graph =>
  new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => posix.join(posix.dirname(file.path), specifier)),
    ]),
  )

type Graph = ReadonlyMap<string, readonly string[]>

/** The same between folders. */
function folderGraph(files: Graph, folderOf: (path: string) => string | null): Graph {
  const graph = new Map<string, string[]>()
  for (const [path, targets] of files) {
    const from = folderOf(path)
    const to = targets.flatMap((target) => folderOf(target) ?? []).filter((folder) => folder !== from)
    if (from !== null) graph.set(from, [...(graph.get(from) ?? []), ...to])
  }
  return graph
}

/** Ways that lead back to where they begin, one for each import that closes one. */
function circles(graph: Graph): readonly string[] {
  const found: string[] = []
  const done = new Set<string>()
  const walk = (node: string, way: readonly string[]): void => {
    const start = way.indexOf(node)
    if (start !== -1) found.push([...way.slice(start), node].join(' -> '))
    if (start !== -1 || done.has(node)) return
    for (const next of graph.get(node) ?? []) walk(next, [...way, node])
    done.add(node)
  }
  for (const node of graph.keys()) walk(node, [])
  return found
}

const FLOW = 'src/flow/'
/** The library: it holds every verb, and no file of the flow imports it. */
const LIBRARY = 'src/flow/galley.ts'

/** A verb's folder, or `flow` for what several verbs share. */
function flowFolder(path: string): string | null {
  if (!path.startsWith(FLOW)) return null
  if (path === LIBRARY) return LIBRARY
  const [folder = '', file] = path.slice(FLOW.length).split('/')
  return file === undefined ? 'flow' : `flow/${folder}`
}

describe('imports', () => {
  const graph = importGraph(sourceFiles('src'))

  test('lead from no file back to itself, types included', () => {
    expect(circles(graph)).toEqual([])
  })

  test("lead from no folder of the flow back to itself: what several verbs share imports no verb's folder", () => {
    expect(circles(folderGraph(graph, flowFolder))).toEqual([])
  })

  test('are seen when they lead back', () => {
    const files = importGraph([
      parseSource('src/flow/a.ts', "import type { B } from './land/b.ts'"),
      parseSource('src/flow/land/b.ts', "import './c.ts'\nimport '../d.ts'"),
      parseSource('src/flow/land/c.ts', "export type { B } from './b.ts'"),
      parseSource('src/flow/d.ts', ''),
      parseSource('src/flow/galley.ts', "import './land/b.ts'\nimport './d.ts'"),
    ])
    expect(circles(files)).toEqual(['src/flow/land/b.ts -> src/flow/land/c.ts -> src/flow/land/b.ts'])
    expect(circles(folderGraph(files, flowFolder))).toEqual(['flow -> flow/land -> flow'])
  })
})

describe('the rooms of src/', () => {
  test('every file imports only what the row of its room allows', () => {
    expect(sourceFiles('src').flatMap(importProblems)).toEqual([])
  })

  test.each([
    ['a pure part that reads files', 'src/editing/a.ts', "import { readFileSync } from 'node:fs'"],
    ['a pure part that calls git', 'src/policy/a.ts', "export { git } from '../git/door.ts'"],
    ['a surface that goes past the flow', 'src/cli/a.ts', "const s = await import('../store/open-store.ts')"],
    ['a package that the room has no use for', 'src/store/a.ts', "import yargs from 'yargs'"],
    ['a type taken from above', 'src/model/a.ts', "import type { GitDoor } from '../git/door.ts'"],
    ['a type taken by an import expression', 'src/model/a.ts', "type D = import('../git/door.ts').GitDoor"],
    ['a file in no room', 'src/misc/a.ts', ''],
    ['one file of a room when another is allowed', 'src/policy/a.ts', "import '../intake/batch-schema.ts'"],
  ])('the rule sees %s', (_, path, text) => {
    expect(importProblems(parseSource(path, text))).toHaveLength(1)
  })

  test('the rule takes no comment or string for an import', () => {
    const text = "// import 'node:fs'\nconst text = \"import x from 'node:fs'\"\n"
    expect(importProblems(parseSource('src/model/a.ts', text))).toEqual([])
  })
})
