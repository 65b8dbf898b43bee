// usage: node census.mjs DIRECTORY…  Prints, as JSON, every marker (`mark-` and twelve letters or digits) in the names and bytes of the files below, and in
// every object of every git directory among them, reachable or not. Follows no link and no alternate. It knows nothing of galley.
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'

const MARKER = /mark-[0-9a-z]{12}/g

const found = new Set()
const look = (bytes) => {
  for (const [marker] of bytes.toString('latin1').matchAll(MARKER)) found.add(marker)
}

function read(file) {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return fstatSync(descriptor).isFile() ? readFileSync(descriptor) : Buffer.alloc(0)
  } finally {
    closeSync(descriptor)
  }
}

function lookInPack(file) {
  const bare = mkdtempSync(join(tmpdir(), 'census-'))
  const env = { PATH: process.env.PATH, HOME: bare, GIT_CONFIG_NOSYSTEM: '1' }
  spawnSync('git', ['init', '-q', '--bare', bare], { env })
  spawnSync('git', ['--git-dir', bare, 'unpack-objects', '-q', '-r'], { env, input: read(file) })
  walk(Buffer.from(join(bare, 'objects')), true)
  rmSync(bare, { recursive: true, force: true })
}

function walk(directory, isObjects) {
  let names = []
  try {
    names = readdirSync(directory, { encoding: 'buffer' })
  } catch {
    return
  }
  for (const name of names) {
    const path = Buffer.concat([directory, Buffer.from('/'), name])
    // git notes a message down before it finds that there is nothing to commit.
    if (name.toString().endsWith('_EDITMSG')) continue
    look(name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) continue
    if (stat.isDirectory()) walk(path, isObjects || name.toString() === 'objects')
    else if (stat.isSymbolicLink()) look(readlinkSync(path, { encoding: 'buffer' }))
    else if (stat.isFile()) lookAt(path, name.toString('latin1'), isObjects)
  }
}

function lookAt(path, name, isObjects) {
  try {
    const bytes = read(path)
    look(bytes)
    if (isObjects && name.endsWith('.pack')) lookInPack(path)
    else if (isObjects && /^[0-9a-f]{38}$/.test(name)) look(inflateSync(bytes))
  } catch {
    // Unreadable, or no object: its raw bytes were looked at.
  }
}

for (const directory of process.argv.slice(2)) walk(Buffer.from(directory), false)
process.stdout.write(JSON.stringify([...found].sort()))
