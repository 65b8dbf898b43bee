import { isNode, memberName, type SourceFile, type SyntaxNode, stringOf } from './source-tree.ts'

const FUNCTION_MAX_LINES = 70
const FILE_MAX_LINES = 300

export interface Problem {
  readonly rule: string
  readonly path: string
  readonly line: number
  readonly advice: string
}

type Rule = (file: SourceFile) => readonly Problem[]

/** A rule that looks at one node at a time. */
const nodeRule =
  (rule: string, advice: string, isBad: (node: SyntaxNode, file: SourceFile) => boolean): Rule =>
  (file) =>
    file.nodes
      .filter((node) => isBad(node, file))
      .map((node) => ({ rule, path: file.path, line: file.lineOf(node.start), advice }))

const isIn = (file: SourceFile, ...rooms: readonly string[]) =>
  rooms.some((room) => file.path.startsWith(`src/${room}/`))

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']

const longFunction = nodeRule(
  'long-function',
  `no function has more than ${FUNCTION_MAX_LINES} lines: take a part out and name it`,
  (node, file) =>
    FUNCTIONS.includes(node.type) && file.lineOf(node.end) - file.lineOf(node.start) + 1 > FUNCTION_MAX_LINES,
)

const longFile: Rule = (file) =>
  file.lineCount <= FILE_MAX_LINES
    ? []
    : [
        {
          rule: 'long-file',
          path: file.path,
          line: file.lineCount,
          advice: `no file has more than ${FILE_MAX_LINES} lines`,
        },
      ]

const printsOrExits = nodeRule(
  'prints-or-exits',
  'only src/cli prints, and nothing but its last line exits: return a value or throw a GalleyError',
  (node, file) =>
    !isIn(file, 'cli') &&
    (memberName(node) === 'process.exit' || (memberName(node)?.startsWith('console.') ?? false)),
)

const readsSurroundings = nodeRule(
  'reads-surroundings',
  'the library is told its folder and environment; only src/cli and src/sys read them',
  (node, file) =>
    !isIn(file, 'cli', 'sys') &&
    ['process.cwd', 'process.env', 'process.argv', 'process.stdin', 'process.stdout'].includes(
      memberName(node) ?? '',
    ),
)

const readsClock = nodeRule(
  'reads-clock',
  'time and chance come from the Clock of src/sys/clock.ts, handed in',
  (node, file) => !isIn(file, 'sys') && (isClockMember(node) || isDateOfNow(node)),
)

const isClockMember = (node: SyntaxNode) => ['Date.now', 'Math.random'].includes(memberName(node) ?? '')

function isDateOfNow(node: SyntaxNode): boolean {
  const callee = node['callee']
  const isDate = node.type === 'NewExpression' && isNode(callee) && callee['name'] === 'Date'
  return isDate && Array.isArray(node['arguments']) && node['arguments'].length === 0
}

/** git's commands that can lose work, or move a branch backwards. */
const LOSING = ['stash', 'reset', 'clean', 'restore', 'switch', 'rebase', 'filter-branch', 'prune', 'reflog']
/** The files that check out in galley's own scratch trees, and say so in code. */
const IN_SCRATCH_TREES = ['src/git/scratch-tree.ts']
const FORCING = ['--force', '-f', '-D', '-M', '--force-with-lease']

const losesWork = argumentsRule(
  'loses-work',
  'no stash, no reset, no clean, no forced move: uncommitted work is never at risk (DESIGN.md section 2, promise 5)',
  (args, file) =>
    args.some((s) => LOSING.includes(s)) ||
    (args.includes('checkout') && !IN_SCRATCH_TREES.includes(file.path)) ||
    (args.some((s) => FORCING.includes(s)) && args.some((s) => s === 'branch' || s === 'push')),
)

const movesRefBlindly = argumentsRule(
  'moves-ref-blindly',
  'every ref moves by compare-and-swap: use updateRefs of src/git/refs.ts',
  (args) => args.includes('update-ref') && !args.includes('--stdin'),
)

/** A rule on the strings of each array that is handed to a program as its arguments. */
function argumentsRule(
  rule: string,
  advice: string,
  isBad: (args: readonly string[], file: SourceFile) => boolean,
): Rule {
  return (file) =>
    file.nodes
      .flatMap(argumentArrays)
      .filter((array) => isBad(stringsIn(array), file))
      .map((array) => ({ rule, path: file.path, line: file.lineOf(array.start), advice }))
}

/** The arrays in a place where arguments stand: an `args` of an object, a variable named so, a call's argument. */
function argumentArrays(node: SyntaxNode): readonly SyntaxNode[] {
  const isNamedSo = (name: unknown) => isNode(name) && /args$|argv$|arguments$/i.test(String(name['name']))
  if (node.type === 'Property' && isNamedSo(node['key'])) return arraysIn(node['value'])
  if (node.type === 'VariableDeclarator' && isNamedSo(node['id'])) return arraysIn(node['init'])
  if (node.type === 'CallExpression' && Array.isArray(node['arguments'])) {
    return node['arguments'].filter((argument) => isNode(argument) && argument.type === 'ArrayExpression')
  }
  return []
}

function arraysIn(value: unknown): readonly SyntaxNode[] {
  if (!isNode(value)) return []
  if (value.type === 'ArrayExpression') return [value]
  return value.type === 'ConditionalExpression'
    ? [value['consequent'], value['alternate']].flatMap(arraysIn)
    : []
}

const stringsIn = (array: SyntaxNode): readonly string[] =>
  (Array.isArray(array['elements']) ? array['elements'] : []).map(stringOf).filter((text) => text !== null)

const callsLosingMethod = nodeRule(
  'calls-losing-method',
  'simple-git has these methods; galley never calls them',
  (node) => {
    const callee = node.type === 'CallExpression' ? node['callee'] : null
    const property = isNode(callee) && callee.type === 'MemberExpression' ? callee['property'] : null
    return isNode(property) && ['stash', 'reset', 'checkout', 'clean'].includes(String(property['name']))
  },
)

const replacesByPattern = nodeRule(
  'replaces-by-pattern',
  'in a replacement text $& and its kin are commands, and the text may be hostile: give a function',
  (node) => {
    const callee = node.type === 'CallExpression' ? node['callee'] : null
    if (!isNode(callee) || callee.type !== 'MemberExpression' || !isNode(callee['property'])) return false
    if (!['replace', 'replaceAll'].includes(String(callee['property']['name']))) return false
    const replacement = Array.isArray(node['arguments']) ? node['arguments'][1] : null
    if (!isNode(replacement) || FUNCTIONS.includes(replacement.type)) return false
    return stringOf(replacement)?.includes('$') ?? replacement.type !== 'Identifier'
  },
)

const silencesCompiler: Rule = (file) =>
  [...file.text.matchAll(/@ts-(?:ignore|expect-error|nocheck)/g)].map((match) => ({
    rule: 'silences-compiler',
    path: file.path,
    line: file.lineOf(match.index),
    advice: 'say what is true by a type instead',
  }))

const loadsAllOfZod: Rule = (file) =>
  /import \{[^}]*\bz\b[^}]*\} from 'zod'/.test(file.text)
    ? [
        {
          rule: 'loads-all-of-zod',
          path: file.path,
          line: 1,
          advice: "write import * as z from 'zod': the bundle is a fifth of the size and loads 20 ms faster",
        },
      ]
    : []

const sourceRules: readonly Rule[] = [
  longFunction,
  longFile,
  printsOrExits,
  readsSurroundings,
  readsClock,
  losesWork,
  callsLosingMethod,
  movesRefBlindly,
  replacesByPattern,
  silencesCompiler,
  loadsAllOfZod,
]

/** What a source file does that the house rules forbid, each with what to do instead. */
export const problemsOf = (file: SourceFile): readonly Problem[] => sourceRules.flatMap((rule) => rule(file))
