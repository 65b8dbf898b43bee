/**
 * Variables that agents set for the commands that they run, in the order in which they are looked at. What a person
 * sets to configure an agent (`CODEX_HOME`, `GOOSE_PROVIDER`, `AIDER_MODEL`) or what an editor sets in every terminal
 * (`CURSOR_TRACE_ID`, `REPL_ID`) is no sign of an agent at work and is left out. Aider sets nothing.
 */
export const agentVariables: readonly string[] = [
  // galley: what it runs for a proposal (`check:<name>`, `hook:<name>`, `setup`), and `galley run`.
  'GALLEY_AGENT',
  // The two conventions: Claude Code and Copilot in VS Code set the first; Amp, Crush, Goose and opencode the second.
  'AI_AGENT',
  'AGENT',
  // Claude Code (anthropics/claude-code issue 531; the second names how it was started).
  'CLAUDECODE',
  'CLAUDE_CODE_ENTRYPOINT',
  // Codex (openai/codex pull request 879; issue 15527).
  'CODEX_SANDBOX',
  'CODEX_SANDBOX_NETWORK_DISABLED',
  'CODEX_THREAD_ID',
  'CODEX_CI',
  // Cursor's agent, in the editor and on the command line.
  'CURSOR_AGENT',
  // Gemini CLI (its page on the shell tool), Qwen Code (its fork), Antigravity.
  'GEMINI_CLI',
  'QWEN_CODE',
  'ANTIGRAVITY_AGENT',
  // opencode, Crush, Amp, Goose (aaif-goose/goose issue 3827), Augment's command line, Pi.
  'OPENCODE',
  'CRUSH',
  'AMP_CURRENT_THREAD_ID',
  'GOOSE_TERMINAL',
  'AUGMENT_AGENT',
  'PI_CODING_AGENT',
  // GitHub Copilot's command line.
  'COPILOT_CLI',
  // Terminals that Cline (cline/cline pull request 5367) and Roo Code (RooCodeInc/Roo-Code pull request 11862) open.
  'CLINE_ACTIVE',
  'ROO_ACTIVE',
]

/**
 * Returns the name of the first variable that shows an agent at work, or null.
 *
 * A seat belt and no lock: a process can drop the variable. Empty, `0` and `false` count as not set.
 */
export const agentAtWork = (env: Readonly<Record<string, string | undefined>>): string | null =>
  agentVariables.find((name) => isSet(Object.hasOwn(env, name) ? env[name] : undefined)) ?? null

/** What galley itself sets for code that comes from a proposal: checks, hooks, setup and runs. */
export const ownMarks: readonly string[] = ['GALLEY_AGENT', 'GALLEY_RUN']

export function isSet(value: string | undefined): boolean {
  const word = value?.trim().toLowerCase() ?? ''
  return word !== '' && word !== '0' && word !== 'false'
}

/** What Claude Code sets for every program that it starts: its own servers and hooks as well as the commands of its model. */
const harnessVariables = ['AI_AGENT', 'CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT']

/**
 * The environment as it shows who asks through an agent's client. Claude Code marks what it starts by itself (`AI_AGENT` ends in
 * `_harness`) apart from what its model starts (`_agent`); the other clients mark only the latter. The former is no sign of an agent: the
 * client asks the person before it.
 */
export function clientEnvironment(env: Environment): Environment {
  const isHarness = (env['AI_AGENT'] ?? '').endsWith('_harness') && !isSet(env['CLAUDE_CODE_CHILD_SESSION'])
  return isHarness
    ? Object.fromEntries(Object.entries(env).filter(([name]) => !harnessVariables.includes(name)))
    : env
}

type Environment = Readonly<Record<string, string | undefined>>
