/** An environment without anything that names a repository or a place: another one's than the tree that a program is started in. */
export function treeEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isPlace = (name: string) => name.startsWith('GIT_') || name === 'PWD' || name === 'OLDPWD'
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isPlace(name) ? [] : [[name, value] as const],
    ),
  )
}
