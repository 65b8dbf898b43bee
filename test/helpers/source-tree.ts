import { readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'vite'

export const projectRoot = resolve(fileURLToPath(new URL('../..', import.meta.url)))

/** A node of the syntax tree (ESTree), as far as the rules look into it. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface SourceFile {
  /** From the project's root, `/` between its parts. */
  readonly path: string
  readonly text: string
  readonly lineCount: number
  readonly nodes: readonly SyntaxNode[]
  /** Number, from 1, of the line that holds this offset. */
  readonly lineOf: (offset: number) => number
}

/** Every TypeScript file under a folder of the project, parsed. */
export function sourceFiles(folder: string): readonly SourceFile[] {
  return readdirSync(join(projectRoot, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, name.split(sep).join('/')))
    .filter((path) => path.endsWith('.ts') && !path.includes('/fixtures/'))
    .sort()
    .map((path) => parseSource(path, readFileSync(join(projectRoot, path), 'utf8')))
}

export function parseSource(path: string, text: string): SourceFile {
  const nodes: SyntaxNode[] = []
  collect(parseAst(text, { lang: 'ts' }), nodes)
  return {
    path,
    text,
    nodes,
    lineCount: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    lineOf: (offset) => text.slice(0, offset).split('\n').length,
  }
}

function collect(value: unknown, nodes: SyntaxNode[]): void {
  if (Array.isArray(value)) for (const member of value) collect(member, nodes)
  if (!isNode(value)) return
  nodes.push(value)
  for (const field of Object.values(value)) if (typeof field === 'object') collect(field, nodes)
}

export const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** The value of a string literal, or null for every other node. */
export const stringOf = (node: unknown): string | null =>
  isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : null

/** `process.exit` as "process.exit"; null for what is no plain member of a plain name. */
export function memberName(node: SyntaxNode): string | null {
  if (node.type !== 'MemberExpression' || node['computed'] === true) return null
  const object = node['object']
  const property = node['property']
  if (!isNode(object) || !isNode(property) || object.type !== 'Identifier') return null
  return `${object['name']}.${property['name']}`
}

export interface Import {
  readonly specifier: string
  readonly line: number
}

/** Everything the file imports or re-exports, dynamic imports and type imports included. */
export function importsOf(file: SourceFile): readonly Import[] {
  const kinds = [
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
    'ImportExpression',
    'TSImportType',
  ]
  return file.nodes.flatMap((node) => {
    const specifier = kinds.includes(node.type) ? stringOf(node['source'] ?? node['argument']) : null
    return specifier === null ? [] : [{ specifier, line: file.lineOf(node.start) }]
  })
}
