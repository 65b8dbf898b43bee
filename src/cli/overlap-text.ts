import { visible } from '../review/visible.ts'

/** A later commit as `overlaps-later` and `--with-later` give it. */
interface Later {
  readonly commit: string
  readonly title: string
  readonly id: string | null
  readonly paths: readonly string[]
}

/** Later commits that are taken back too, or that stand in the way; one line each. */
export const laterText = (later: readonly Later[], word = 'also takes back'): string =>
  later
    .map(({ id, commit, title, paths }) => {
      const name = id ?? commit.slice(0, 7)
      return `${word}: ${name}  ${visible(title)}  (${paths.map(visible).join(', ')})\n`
    })
    .join('')

const LATER_SHOWN = 20
const DRAWN_SHOWN = 5

/** What stands in an undo's way, for people; nothing where a refusal has no such data. */
export function overlapText(data: Readonly<Record<string, unknown>>): string {
  const later = (Array.isArray(data['later']) ? data['later'] : []) as readonly Later[]
  const conflicts = (Array.isArray(data['conflicts']) ? data['conflicts'] : []) as readonly Conflict[]
  const more = later.length > LATER_SHOWN ? `  later: and ${later.length - LATER_SHOWN} more\n` : ''
  return `${conflicts.flatMap(drawnText).join('')}${laterText(later.slice(0, LATER_SHOWN), '  later')}${more}`
}

interface Conflict {
  readonly path: string
  readonly drawing: { readonly kind: string; readonly conflicts?: readonly Drawn[] }
}

type Drawn = Readonly<
  Record<'ours' | 'base' | 'theirs', { readonly line: number; readonly text: readonly string[] }>
>

function drawnText({ path, drawing }: Conflict): readonly string[] {
  return (drawing.conflicts ?? []).slice(0, DRAWN_SHOWN).map((drawn) => {
    const side = (name: string, { line, text }: Drawn['ours']) =>
      `    ${name}, line ${line}:\n${text.map((l) => `      ${visible(l)}\n`).join('')}`
    const parts = [
      side('now', drawn.ours),
      side('as it landed', drawn.base),
      side('as it was before', drawn.theirs),
    ]
    return `  ${visible(path)}\n${parts.join('')}`
  })
}
