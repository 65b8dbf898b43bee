/** One thing that `doctor` looked at, and what it found there. */
export interface Finding {
  readonly about:
    | 'git'
    | 'repository'
    | 'landing'
    | 'store'
    | 'policy'
    | 'identity'
    | 'hooks'
    | 'trees'
    | 'doors'
  /** `note`: works, and is good to know. `problem`: something is refused, or does not protect, until it is put right. */
  readonly state: 'good' | 'note' | 'problem'
  readonly text: string
  /** What puts it right, or where to look; null = nothing is to be done. */
  readonly advice: string | null
}

type Make = (about: Finding['about'], text: string, advice?: string) => Finding

export const good: Make = (about, text, advice) => ({ about, state: 'good', text, advice: advice ?? null })
export const note: Make = (about, text, advice) => ({ about, state: 'note', text, advice: advice ?? null })
export const problem: Make = (about, text, advice) => ({
  about,
  state: 'problem',
  text,
  advice: advice ?? null,
})
