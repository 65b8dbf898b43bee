/**
 * Installs the hook managers that tests run for real, at these versions, into `node_modules/.peers`, unless they are there. Without
 * their installation scripts: lefthook's puts hooks into the repository that it is installed in. By hand, or by the tests:
 *
 *     node test/helpers/install-peers.mjs
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const peers = { husky: '9.1.7', lefthook: '2.2.2' }
const folder = fileURLToPath(new URL('../../node_modules/.peers', import.meta.url))

const versionOf = (name) => {
  const file = join(folder, 'node_modules', name, 'package.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : null
}
const missing = Object.entries(peers).filter(([name, version]) => versionOf(name) !== version)
if (missing.length > 0) {
  mkdirSync(folder, { recursive: true })
  const quiet = [
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--loglevel=error',
  ]
  const wanted = Object.entries(peers).map(([name, version]) => `${name}@${version}`)
  const { status } = spawnSync('npm', ['install', '--prefix', folder, ...quiet, ...wanted], {
    stdio: 'inherit',
  })
  process.exitCode = status ?? 1
}
