/**
 * Runs a benchmark of this folder: `npm run bench -- landing 100000 5` runs `landing.ts` with the arguments given;
 * without a name, all run one after another. Figures are ratios within one run; nothing here is a test.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const folder = fileURLToPath(new URL('.', import.meta.url))
const root = join(folder, '../..')
const [name, ...args] = process.argv.slice(2)
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))

if (name !== undefined && !known.includes(name)) {
  process.stderr.write(`bench: there is no ${name}; there are: ${known.join(', ')}\n`)
  process.exit(2)
}

// Time at start is part of what is measured, and certificates that node reads then are not.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
for (const one of name === undefined ? known : [name]) {
  const outfile = join(root, `node_modules/.bench/${one}.mjs`)
  await build({
    absWorkingDir: root,
    entryPoints: [join(folder, `${one}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  })
  process.stdout.write(`== ${one}\n`)
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...args], { env, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
