/**
 * Builds the package: `dist/galley.js` (the command), `dist/index.js` (the library), `dist/types/` (its declarations) and
 * `schema/batch.schema.json`, and the manual page. Run by `npm run build`, and by npm itself after `npm ci` and before `npm pack`.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** For a package: nothing of earlier builds stays. Otherwise what a galley or a test may be using just now does. */
const isClean = process.argv.includes('--clean')
const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

/**
 * isomorphic-git gives one function, `hashBlob`. Its node entry is a CommonJS file of 600 kB that takes 85 ms to load; its
 * ESM entry, and all that it imports, shake down to that function and the hash beneath it, which load in a few.
 */
const shakeIsomorphicGit = {
  name: 'shake-isomorphic-git',
  setup(context) {
    const folder = dirname(require.resolve('isomorphic-git'))
    context.onResolve({ filter: /^isomorphic-git$/ }, () => ({
      path: join(folder, 'index.js'),
      sideEffects: false,
    }))
    context.onResolve({ filter: /^[^./]/ }, async ({ path, importer, kind, pluginData }) => {
      if (importer !== join(folder, 'index.js') || pluginData === 'second pass') return undefined
      const found = await context.resolve(path, {
        importer,
        kind,
        resolveDir: folder,
        pluginData: 'second pass',
      })
      return { path: found.path, external: found.external, sideEffects: false }
    })
  },
}

const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  legalComments: 'none', // every package that is bundled is also installed, licence and all
  plugins: [shakeIsomorphicGit],
  define: { GALLEY_VERSION: JSON.stringify(version) },
  // CommonJS packages that are bundled still ask node for its own modules.
  banner: {
    js: "import { createRequire as galleyRequire } from 'node:module'; const require = galleyRequire(import.meta.url);",
  },
}

async function buildCode() {
  const { outputFiles } = await build({
    ...shared,
    entryPoints: {
      galley: 'src/cli/galley.ts',
      index: 'src/index.ts',
      'syntax-worker': 'src/term/syntax-worker.ts',
    },
    outdir: 'dist',
    write: false,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    // 50 ms of yargs' start are string-width's: one regular expression and one segmenter.
    alias: {
      'string-width': './src/cli/string-width.ts',
      // Its main file loads its parts by a way that no bundler follows.
      'jsonc-parser': 'jsonc-parser/lib/esm/main.js',
    },
    external: [
      'diff3', // assigns a variable that it never declares: an ESM bundle is strict and would throw
      'pino', // starts workers from files beside its own
      'simple-git', // loaded by few commands; nothing to win
    ],
  })
  const command = join(root, 'dist/galley.js')
  // Chunks before the entries that name them, so that a galley started meanwhile finds what it needs.
  const entriesLast = outputFiles.toSorted((a, b) => b.path.split(sep).length - a.path.split(sep).length)
  for (const { path, text } of entriesLast) {
    if (path === command) await put(path, `#!/usr/bin/env node\n${text}`, 0o755)
    else await put(path, text, 0o644)
  }
  await removeAllBut(new Set(outputFiles.map(({ path }) => path)), join(root, 'dist/chunks'))
}

/** The page of the web review: one script, one style sheet, one file of markup. Whoever opens it loads nothing from elsewhere. */
async function buildPage() {
  const page = join(root, 'src/page')
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { app: join(page, 'app.ts'), style: join(page, 'app.css') },
    outdir: 'dist/web',
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    logLevel: 'warning',
    legalComments: 'none',
  })
  for (const { path, text } of outputFiles) await put(path.replace('style.css', 'app.css'), text, 0o644)
  await put(join(root, 'dist/web/index.html'), await readFile(join(page, 'index.html'), 'utf8'), 0o644)
}

/** Writes the published JSON Schema from the zod source, so that the two cannot differ. */
async function buildSchema() {
  const outfile = join(root, `dist/batch-schema.${process.pid}.tmp.mjs`)
  await build({ ...shared, entryPoints: ['src/intake/batch-schema.ts'], outfile })
  const { batchJsonSchema } = await import(pathToFileURL(outfile).href).finally(() => rm(outfile))
  await put(join(root, 'schema/batch.schema.json'), `${JSON.stringify(batchJsonSchema(), null, 2)}\n`, 0o644)
}

/** Puts a file in place by a rename: whoever reads it meanwhile sees the old one or the new one. */
async function put(path, text, mode) {
  await mkdir(dirname(path), { recursive: true })
  const aside = `${path}.${process.pid}.tmp`
  await writeFile(aside, text, { mode })
  await rename(aside, path)
}

/** Removes the chunks of earlier builds; one that a galley started a moment ago has yet to load stays for a while. */
async function removeAllBut(kept, folder) {
  const keepsSince = isClean ? Number.POSITIVE_INFINITY : Date.now() - 10 * 60_000
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const age = kept.has(path) ? null : await stat(path).catch(() => null)
    if (age !== null && age.mtimeMs < keepsSince) await rm(path, { force: true })
  }
}

/** Declarations of the library's own graph; the rest of the source is not published. */
function buildTypes() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const options = [
    '--ignoreConfig --target es2023 --module nodenext --lib es2023 --types node --strict --exactOptionalPropertyTypes',
    '--noUncheckedIndexedAccess --erasableSyntaxOnly --verbatimModuleSyntax --allowImportingTsExtensions',
    '--rewriteRelativeImportExtensions --skipLibCheck --noCheck --declaration --emitDeclarationOnly',
    '--rootDir src --outDir dist/types',
  ].flatMap((line) => line.split(' '))
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [tsc, ...options, 'src/index.ts'], { cwd: root, stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`tsc ended with exit code ${code}`)),
    )
  })
}

/** The manual page, as the command itself gives it, under both of its names: `man galley`, `git help galley`. */
async function buildManual() {
  const { stdout } = await promisify(execFile)(process.execPath, [
    join(root, 'dist/galley.js'),
    'help',
    '--man',
  ])
  for (const name of ['galley.1', 'git-galley.1']) await put(join(root, 'dist', name), stdout, 0o644)
}

if (isClean) await rm(join(root, 'dist'), { recursive: true, force: true })
// All end, whatever becomes of the others, so that none leaves a file half made.
const outcomes = await Promise.allSettled([
  buildCode().then(buildManual),
  buildPage(),
  buildSchema(),
  buildTypes(),
])
const failures = outcomes.filter(({ status }) => status === 'rejected')
for (const { reason } of failures) {
  process.stderr.write(`build: ${reason instanceof Error ? reason.message : reason}\n`)
}
if (failures.length > 0) process.exitCode = 1
