import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { readFileOrNull } from '../sys/small-files.ts'
import { withTemporaryDirectory, writeTemporary } from '../sys/temporary.ts'

/**
 * Lets the user change a text in their own editor, as git starts it. Only the environment says which: a repository's settings may be an
 * agent's word.
 *
 * @param path - Whose ending tells the editor the language.
 * @returns The text as it was saved; null where the editor failed.
 */
export function editText(
  text: string,
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const editor = [env['GIT_EDITOR'], env['VISUAL'], env['EDITOR']].find((one) => (one ?? '') !== '') ?? 'vi'
  const ending = /\.[A-Za-z0-9]{1,12}$/.exec(path)?.[0] ?? ''
  return withTemporaryDirectory(async (directory) => {
    const name = `hunk${ending}`
    await writeTemporary(directory, name, text)
    const file = join(directory, name)
    if (!(await ranWell(editor, file, env))) return null
    return (await readFileOrNull(file))?.toString('utf8') ?? null
  })
}

/** Ctrl-C in the editor is the editor's. */
function ranWell(
  editor: string,
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<boolean> {
  const hold = () => undefined
  process.on('SIGINT', hold)
  return new Promise<boolean>((resolve) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', env })
    child.on('error', () => resolve(false))
    child.on('close', (code) => resolve(code === 0))
  }).finally(() => process.off('SIGINT', hold))
}
