import { assertNever } from '../../model/error.ts'
import type { HookFile, HookName, HookPlace, HookStep } from '../../model/hook.ts'
import { type HookFacts, shimLine } from '../../policy/hook-plan.ts'
import type { HookEntry } from '../../store/hook-manifest.ts'

export interface HookReport {
  readonly name: HookName
  readonly path: string
  /**
   * `told`: somebody else's script must call it, and what to add is said. `displaced`: ours was put there, and somebody else's stands
   * there now. `outdated`: ours, of another version or with other paths.
   */
  readonly state: 'installed' | 'missing' | 'told' | 'displaced' | 'outdated'
  /** In words: what was done, or what there is to do. */
  readonly text: string
}

type Told = Pick<HookReport, 'state' | 'text'>

const OWNERS = {
  galley: 'galley',
  husky: 'husky',
  lefthook: 'lefthook',
  'pre-commit': 'pre-commit',
  'git-lfs': 'Git LFS',
  someone: 'your own hook',
} as const

const ownerText = (file: HookFile): string =>
  file.kind === 'file' ? OWNERS[file.owner] : 'what stands there'

/** What a step did, in words. */
export function doneText(step: HookStep, facts: HookFacts, place: HookPlace): Told {
  const text = stepText(step, facts, place)
  return { state: step.kind === 'tell' ? 'told' : 'installed', text }
}

function stepText(step: HookStep, facts: HookFacts, place: HookPlace): string {
  switch (step.kind) {
    case 'keep':
      return 'in place already'
    case 'write':
      return step.path === facts.path ? 'put in place' : 'put in place; pre-commit runs it first'
    case 'chain': {
      const kept = facts.file.kind === 'file' && facts.file.owner === 'pre-commit' ? facts.legacy : facts.file
      const again =
        kept.kind === 'file' && kept.owner === 'lefthook'
          ? `. lefthook puts its own back when lefthook.yml changes; so that both run then too, add to it:\n${lefthookText(step.name)}`
          : ''
      return `put in place; ${ownerText(kept)} is kept at ${step.previous} and runs first${again}`
    }
    case 'line': {
      const done = step.creates ? 'a script was made' : 'a line was added'
      return `${done}; commit it, so that ${place.kind === 'husky' ? 'husky' : 'git'} runs it in every clone that has galley`
    }
    case 'config':
      return 'git is told of it by .git/config'
    case 'tell':
      return `not touched: ${step.reason}. Add this as its last line:\n  ${shimLine(step.name)}`
    default:
      return assertNever(step)
  }
}

const lefthookText = (name: HookName): string => {
  const stdin = name === 'pre-push' ? '\n        use_stdin: true' : ''
  const run = shimLine(name).replace(' "$@" # galley', () => ' {0}')
  return `  ${name}:\n    commands:\n      galley:\n        run: '${run}'${stdin}`
}

/** What git would run now. */
export function stateOf(facts: HookFacts, noted: readonly HookEntry[], hasShim: boolean): Told {
  const { file, legacy, path } = facts
  const byConfig = noted.some(
    (entry) => entry.kind === 'config' && entry.keys.includes(`hook.galley-${facts.name}.event`),
  )
  if (byConfig) return { state: hasShim ? 'installed' : 'missing', text: 'by .git/config' }
  if (file.kind === 'file' && file.owner === 'galley') return currentText(file)
  if (file.kind === 'file' && file.calls !== 'nothing') {
    return hasShim || file.calls === 'galley'
      ? { state: 'installed', text: `${ownerText(file)} calls it` }
      : { state: 'missing', text: 'the line is there, the shim is not: run `galley hooks install`' }
  }
  if (
    file.kind === 'file' &&
    file.owner === 'pre-commit' &&
    legacy.kind === 'file' &&
    legacy.owner === 'galley'
  ) {
    return { ...currentText(legacy), text: 'pre-commit runs it' }
  }
  const wasThere = noted.some((entry) => entry.path === path || entry.path === `${path}.legacy`)
  if (!wasThere) return { state: 'missing', text: 'not installed' }
  const now = file.kind === 'absent' ? 'it is gone' : `${ownerText(file)} stands there now`
  return { state: 'displaced', text: `${now}: run \`galley hooks install\` again` }
}

const currentText = (file: Extract<HookFile, { kind: 'file' }>): Told =>
  file.isCurrent
    ? { state: 'installed', text: 'in place' }
    : { state: 'outdated', text: 'of another galley: run `galley hooks install` again' }
