import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { PageAsset } from './serve-review.ts'

const FILES: readonly (readonly [path: string, file: string, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/app.css', 'app.css', 'text/css; charset=utf-8'],
]

/** The page's files, which lie beside the program; all are read at the start, so that an upgrade beneath it mixes none. */
export function readPageFiles(program: string): ReadonlyMap<string, PageAsset> {
  const folder = join(realpathSync(program), '../web')
  return new Map(FILES.map(([path, file, type]) => [path, { type, bytes: readFileSync(join(folder, file)) }]))
}
