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

/** What each side of a conflict is, for an undo and for a landing. */
const UNDO_SIDES: Sides = { ours: 'now', base: 'as it landed', theirs: 'as it was before' }
const LAND_SIDES: Sides = { ours: 'on the branch', base: 'when it was proposed', theirs: 'in the change' }

/** Where an undo or a landing conflicts, drawn, and what stands in an undo's way; nothing where a refusal has no such data. */
export function overlapText(data: Readonly<Record<string, unknown>>): string {
  const drawn = (Array.isArray(data['drawn']) ? data['drawn'] : []) as readonly Conflict[]
  const later = (Array.isArray(data['later']) ? data['later'] : []) as readonly Later[]
  const conflicts = (Array.isArray(data['conflicts']) ? data['conflicts'] : []) as readonly Conflict[]
  const more = later.length > LATER_SHOWN ? `  later: and ${later.length - LATER_SHOWN} more\n` : ''
  const drawings = [
    ...drawn.map((c) => drawnText(c, LAND_SIDES)),
    ...conflicts.map((c) => drawnText(c, UNDO_SIDES)),
  ]
  return `${drawings.join('')}${laterText(later.slice(0, LATER_SHOWN), '  later')}${more}`
}

interface Conflict {
  readonly path: string
  readonly drawing: { readonly kind: string; readonly conflicts?: readonly Drawn[]; readonly reason?: string }
}

type Sides = Readonly<Record<keyof Drawn, string>>

type Drawn = Readonly<
  Record<'ours' | 'base' | 'theirs', { readonly line: number; readonly text: readonly string[] }>
>

function drawnText({ path, drawing }: Conflict, sides: Sides): string {
  if (drawing.kind === 'not-drawn')
    return `  ${visible(path)} (not drawn: ${visible(drawing.reason ?? '')})\n`
  return (drawing.conflicts ?? [])
    .slice(0, DRAWN_SHOWN)
    .map((drawn) => {
      const side = (name: keyof Drawn) => {
        const { line, text } = drawn[name]
        return `    ${sides[name]}, line ${line}:\n${text.map((l) => `      ${visible(l)}\n`).join('')}`
      }
      return `  ${visible(path)}\n${side('ours')}${side('base')}${side('theirs')}`
    })
    .join('')
}
