/** The hooks that galley has a shim for, by git's names. */
export type HookName =
  | 'pre-commit'
  | 'pre-merge-commit'
  | 'commit-msg'
  | 'pre-push'
  | 'reference-transaction'
  | 'pre-receive'
  | 'update'

/** Hooks of the team's own that are asked about a commit, in the order in which git asks them. */
export const commitHooks = ['pre-commit', 'prepare-commit-msg', 'commit-msg'] as const
export type CommitHook = (typeof commitHooks)[number]

export const hookNames: readonly HookName[] = [
  'pre-commit',
  'pre-merge-commit',
  'commit-msg',
  'pre-push',
  'reference-transaction',
  'pre-receive',
  'update',
]

/** Whose script stands where git looks for a hook. */
export type HookOwner = 'galley' | 'husky' | 'lefthook' | 'pre-commit' | 'git-lfs' | 'someone'

/** What stands at the place of a hook. */
export type HookFile =
  | { readonly kind: 'absent' }
  /** A directory, or something else that is no script. */
  | { readonly kind: 'other' }
  | {
      readonly kind: 'file'
      readonly owner: HookOwner
      /** Ours, and just what an installation would write now. */
      readonly isCurrent: boolean
      /** A shell script, to which a line can be added. */
      readonly isShell: boolean
      /** It looks at where it lies: moved elsewhere it may do something else, or nothing. */
      readonly knowsItsPlace: boolean
      /** What of galley it calls already: the shim that an installation leaves in galley's folder, or galley itself. */
      readonly calls: 'nothing' | 'shim' | 'galley'
    }

/** Where git looks for hooks, and what that means for who may write there. */
export interface HookPlace {
  /**
   * `own`: in this repository's git directory. `husky`: husky's folder of stubs. `work-tree`: a folder of the team's own files.
   * `shared`: somewhere else, where other repositories look too.
   */
  readonly kind: 'own' | 'husky' | 'work-tree' | 'shared'
  /** Absolute. */
  readonly directory: string
  /** Where `core.hooksPath` is set: `local`, `global`, …; null = it is not. */
  readonly scope: string | null
}

/** What is done for one hook. Paths are absolute. */
export type HookStep = { readonly name: HookName } & (
  | { readonly kind: 'keep'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string }
  /** Theirs moves to `previous`, and runs first. */
  | { readonly kind: 'chain'; readonly path: string; readonly previous: string }
  /** A line is added to a script of theirs, or a script of one line is made. */
  | { readonly kind: 'line'; readonly path: string; readonly creates: boolean }
  /** git's configuration names the shim. */
  | { readonly kind: 'config' }
  | { readonly kind: 'tell'; readonly path: string; readonly reason: string }
)
