import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, parse } from 'node:path'
import { describe, expect, test } from 'vitest'
import { errorCodes, meaningOf } from '../src/model/error-codes.ts'
import { problemsOf } from './helpers/source-rules.ts'
import {
  importsOf,
  isNode,
  parseSource,
  projectRoot,
  type SourceFile,
  sourceFiles,
  stringOf,
} from './helpers/source-tree.ts'

const SHIM_MAX_LINES = 25

/**
 * Known exceptions, each "rule path", with its reason. The list may only shrink: an entry that is no longer needed fails.
 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'reads-surroundings src/flow/galley.ts': 'a caller of the library who names no environment means their own',
}

const sources = sourceFiles('src')
const tests = sourceFiles('test')
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8')
const readIfThere = (path: string) => (existsSync(join(projectRoot, path)) ? read(path) : '')

describe('the source', () => {
  const problems = sources.flatMap(problemsOf)

  test('follows the rules, but for the listed exceptions', () => {
    const unlisted = problems.filter(({ rule, path }) => !(`${rule} ${path}` in EXCEPTIONS))
    expect(unlisted.map(({ rule, path, line, advice }) => `${path}:${line}: ${rule}: ${advice}`)).toEqual([])
  })

  test('needs every exception that is listed', () => {
    const needed = new Set(problems.map(({ rule, path }) => `${rule} ${path}`))
    expect(Object.keys(EXCEPTIONS).filter((key) => !needed.has(key))).toEqual([])
  })

  test('has kebab-case file names', () => {
    expect(sources.map(({ path }) => path).filter((path) => !/^[a-z0-9/.-]+$/.test(path))).toEqual([])
  })

  test.each([
    ['long-function', `const f = () => {${'\n'.repeat(70)}}`],
    ['long-file', '\n'.repeat(301)],
    ['prints-or-exits', 'process.exit(1)'],
    ['prints-or-exits', "console.error('x')"],
    ['reads-surroundings', 'const env = process.env'],
    ['reads-clock', 'const now = Date.now()'],
    ['reads-clock', 'const now = new Date()'],
    ['reads-clock', 'const dice = Math.random'],
    ['loses-work', "await git(door, { args: ['reset', '--hard'] })"],
    ['loses-work', "const args = ['-c', 'x=y', 'stash']"],
    ['loses-work', "const args = ['checkout', '--', path]"],
    ['loses-work', "const args = ['branch', '-f', name]"],
    ['loses-work', "const args = isBig ? ['gc'] : ['rebase', onto]"],
    ['calls-losing-method', 'await simpleGit(root).clean(mode)'],
    ['moves-ref-blindly', "const args = ['update-ref', name, next]"],
    ['replaces-by-pattern', "const t = text.replace('a', `<` + hostile)"],
    ['replaces-by-pattern', "const t = text.replaceAll('a', '$&')"],
    ['silences-compiler', '// @ts-ignore\nconst x = 1'],
    ['loads-all-of-zod', "import { z } from 'zod'"],
  ])('the rule %s sees: %s', (rule, text) => {
    expect(problemsOf(parseSource('src/flow/a.ts', text)).map((problem) => problem.rule)).toEqual([rule])
  })
})

describe('the error codes', () => {
  const readme = readIfThere('README.md')

  test('each have their line in the README', () => {
    const missing = errorCodes.map((code) => `| \`${code}\` | ${meaningOf(code)} |`)
    expect(missing.filter((line) => !readme.includes(line))).toEqual([])
  })

  test('are each used by some part', () => {
    const used = new Set(
      sources
        .filter(({ path }) => path !== 'src/model/error-codes.ts')
        .flatMap(({ nodes }) => nodes.map(stringOf)),
    )
    expect(errorCodes.filter((code) => !used.has(code))).toEqual([])
  })
})

describe('the package', () => {
  const { dependencies } = JSON.parse(read('package.json')) as { dependencies: Record<string, string> }
  const names = Object.keys(dependencies)

  test('imports every dependency it declares', () => {
    const imported = sources.flatMap((file) => importsOf(file).map(({ specifier }) => specifier))
    const isUsed = (name: string) => imported.some((from) => from === name || from.startsWith(`${name}/`))
    expect(names.filter((name) => !isUsed(name))).toEqual([])
  })

  test('gives a reason for every dependency in src/README.md', () => {
    const map = readIfThere('src/README.md')
    expect(names.filter((name) => !map.includes(`\`${name}\``))).toEqual([])
  })

  test('pins every dependency to one version', () => {
    expect(Object.entries(dependencies).filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range))).toEqual([])
  })

  test('records no download address in its lock file', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "http/)
  })
})

describe('the hooks', () => {
  const shims = existsSync(join(projectRoot, 'hooks')) ? readdirSync(join(projectRoot, 'hooks')) : []

  test('there are some', () => {
    expect(shims).not.toEqual([])
  })

  test.each(shims)('%s is a short POSIX script', (name) => {
    const lines = read(`hooks/${name}`).trimEnd().split('\n')
    expect(lines[0]).toBe('#!/bin/sh')
    expect(lines.length).toBeLessThanOrEqual(SHIM_MAX_LINES)
  })
})

const SET_ASIDE = /^(?:it|test|describe)\b[^(]*\.(?:skip|only|todo|fails)$/

describe('the tests', () => {
  test('are none of them skipped, left for later, or run alone', () => {
    const found = tests.flatMap((file) =>
      file.nodes
        .filter(
          (node) => node.type === 'MemberExpression' && SET_ASIDE.test(file.text.slice(node.start, node.end)),
        )
        .map((node) => `${file.path}:${file.lineOf(node.start)}`),
    )
    expect(found).toEqual([])
  })

  test('all lie where the runner looks for them', () => {
    const runnersPattern = /^test\/.*\.test\.ts$/
    const isTest = ({ path, nodes }: SourceFile) =>
      !path.startsWith('test/helpers/') &&
      nodes.some(
        (node) =>
          node.type === 'CallExpression' &&
          isNode(node['callee']) &&
          ['test', 'it'].includes(String(node['callee']['name'])),
      )
    const strays = tests.filter((file) => isTest(file) && !runnersPattern.test(file.path))
    expect(strays.map(({ path }) => path)).toEqual([])
    expect(read('test/vitest.config.ts')).toContain("include: ['test/**/*.test.ts']")
  })
})

describe('the repository', () => {
  test('speaks of the project alone', () => {
    const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: projectRoot })
      .toString('utf8')
      .split('\0')
      .filter((name) => name !== '' && name !== 'package-lock.json' && existsSync(join(projectRoot, name)))
    // Put together from parts, or this file would name what it forbids.
    const words = [
      `${homedir()}/`,
      `${dirname(projectRoot)}/`,
      ['sub', 'agent'].join(''),
      ['.lib', 'rary/'].join(''),
    ]
    const isTelling = (word: string) =>
      word !== `${parse(projectRoot).root}/` && word !== `${tmpdir()}/` && word !== '//'
    const isSaid = (text: string) => words.filter((word) => isTelling(word) && text.includes(word))
    const found = files.flatMap((name) => isSaid(read(name)).map((word) => `${name}: ${word}`))
    expect(found).toEqual([])
  })
})
