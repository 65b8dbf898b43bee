/**
 * The environment of a program that galley starts in a tree of its own: without anything that names a repository or a place (another
 * one's than that tree), and marked. What runs there comes from a proposal, or works for an agent: it may not say yes.
 *
 * @param worker - `check:<name>`, `hook:<name>`, `setup`, or an agent's name.
 */
export function treeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  worker: string,
): Record<string, string> {
  const isPlace = (name: string) => name.startsWith('GIT_') || name === 'PWD' || name === 'OLDPWD'
  const passed = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || isPlace(name) ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(passed), GALLEY_AGENT: markOf(worker) }
}

/** A name may be anybody's text: NUL cannot stand in an environment, and `0` or `false` would count as no mark. */
function markOf(worker: string): string {
  const name = worker.replaceAll('\0', '').trim()
  return ['', '0', 'false'].includes(name.toLowerCase()) ? `agent:${name}` : name
}
