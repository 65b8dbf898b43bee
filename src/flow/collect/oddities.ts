import { join } from 'node:path'
import { isObjectId } from '../../model/ids.ts'
import type { OwnHead } from '../../store/own-refs.ts'
import type { OwnRepository } from '../../store/own-repository.ts'
import { isOwnDirectory } from '../../sys/folder-anew.ts'
import { namesInPlace } from '../../sys/object-files.ts'
import { readQuickly } from '../../sys/quick-files.ts'
import { refsIn } from './git-names.ts'

const DIRECTORIES = new Set(['branches', 'hooks', 'info', 'logs', 'objects', 'refs', 'rr-cache'])

/** What git writes by itself, and what says nothing once objects and names are known. */
const USUAL =
  /^(?:[A-Z_]*HEAD|AUTO_MERGE|[A-Z_]*MSG|EDIT_DESCRIPTION|MERGE_RR|MERGE_MODE|MERGE_AUTOSTASH|branches|config|description|gc\.(?:log|pid)|hooks|index|info|logs|objects|packed-refs|refs|rr-cache|shallow|sharedindex\.[0-9a-f]+|.*\.lock|fsmonitor--daemon.*)$/

/** Directories whose presence says what somebody was in the middle of, or had beside. */
const TELLING: Readonly<Record<string, string>> = {
  'rebase-merge': 'a rebase was not finished',
  'rebase-apply': 'a rebase was not finished',
  sequencer: 'a sequence of picks was not finished',
  BISECT_LOG: 'a bisection was not finished',
  modules: 'it holds repositories of submodules',
  worktrees: 'it has further work trees',
  reftable: 'its refs are kept in a form that galley does not read',
}

/** Why a git directory is to be kept although its objects and refs are known. Reads names, and three small files. */
export function oddities({ gitDir, handedOut }: OwnRepository, head: OwnHead): readonly string[] {
  const found: string[] = []
  const names = namesInPlace(gitDir)
  for (const name of names) {
    const why = TELLING[name]
    if (why !== undefined) found.push(why)
    else if (!USUAL.test(name)) found.push(`it holds ${name}`)
    else if (DIRECTORIES.has(name) !== isOwnDirectory(join(gitDir, name)))
      found.push(`its ${name} is not what git makes of it`)
  }
  if (handedOut !== null && readQuickly(join(gitDir, 'config'))?.toString('utf8') !== handedOut.config)
    found.push('its configuration was changed')
  const hooks = namesInPlace(join(gitDir, 'hooks')).filter(
    (name) => !name.endsWith('.sample') && name !== 'pre-push',
  )
  if (hooks.length > 0) found.push(`it has hooks: ${hooks.slice(0, 5).join(', ')}`)
  const info = namesInPlace(join(gitDir, 'info')).filter(
    (name) => !['exclude', 'refs', 'sparse-checkout'].includes(name),
  )
  if (info.length > 0) found.push(`it has info/${info[0]}`)
  if (head.commit === null && handedOut?.commit !== null)
    found.push('its HEAD names nothing that can be read')
  const broken = refsIn(gitDir).filter(([, text]) => !isObjectId(text) && !text.startsWith('ref: refs/'))
  if (broken.length > 0) found.push(`its ${broken[0]?.[0]} is no ref`)
  return [...new Set(found)]
}
