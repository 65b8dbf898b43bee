/**
 * Of the GIT_* variables only those that name no repository: a hook that ran git elsewhere would write into
 * ours.
 */
export function hookEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const passed: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    const isRepository = name.startsWith('GIT_') && !HARMLESS.test(name)
    if (value !== undefined && !isRepository) passed[name] = value
  }
  return { ...passed, GIT_TERMINAL_PROMPT: '0' }
}

const HARMLESS =
  /^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM)|(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|SSH(?:_COMMAND)?|EDITOR|ASKPASS)$/
