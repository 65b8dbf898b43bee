import type { ToolItem } from '../model/batch.ts'
import type { Dialect, DialectContext, Translation } from '../model/dialect.ts'
import { ArgumentReader, failureOf, refusedWith } from './arguments.ts'
import { patchOfArguments, patchOfScript, type ShellPatch } from './codex-shell.ts'
import { envelopeMaxTier, translateEnvelope } from './envelope.ts'

const PATCH_TOOLS: readonly string[] = ['apply_patch', 'applypatch']

/** Shell tools by the names of Codex's versions, and the argument that holds the command. */
const SHELL_TOOLS: ReadonlyMap<string, string> = new Map([
  ['shell', 'command'],
  ['local_shell', 'command'],
  ['container.exec', 'command'],
  ['shell_command', 'command'],
  ['exec_command', 'cmd'],
])

/**
 * Codex: `apply_patch` with `input`, or the same inside a shell call. A shell call is an edit only where it does
 * nothing but apply one patch; it is read, never run. Any other is refused as `unknown-tool`.
 */
export const codex: Dialect = {
  name: 'codex',
  // Each patch sees the files as the one before left them.
  profile: { order: 'sequential', maxTier: envelopeMaxTier, needsRead: false },
  tools: [...PATCH_TOOLS, ...SHELL_TOOLS.keys()],
  fits,
  translate,
}

function fits(call: ToolItem): boolean {
  if (PATCH_TOOLS.includes(call.tool)) return typeof (call.input['input'] ?? call.input['patch']) === 'string'
  return commandOf(call) !== null
}

function translate(call: ToolItem, context: DialectContext): Translation {
  if (PATCH_TOOLS.includes(call.tool)) return translatePatchCall(call, context)
  if (!SHELL_TOOLS.has(call.tool)) return refusedWith(notAnEdit(call, context, 'Codex has no such tool'))
  const command = commandOf(call)
  const found = command === null ? null : patchOfCommand(command)
  if (found === null)
    return refusedWith(notAnEdit(call, context, 'the command does more or other than one patch'))
  const reader = new ArgumentReader(call, context)
  const workdir = reader.optionalString('workdir') ?? ''
  if (reader.failures.length > 0) return refusedWith(...reader.failures)
  return translateEnvelope(found.patch, context, directoryOf(workdir, found.directory))
}

function translatePatchCall(call: ToolItem, context: DialectContext): Translation {
  const reader = new ArgumentReader(call, context)
  reader.allowOnly(['input', 'patch', 'workdir'])
  const patch = reader.has('patch') && !reader.has('input') ? 'patch' : 'input'
  const text = reader.requireString(patch)
  const workdir = reader.optionalString('workdir') ?? ''
  if (reader.failures.length > 0) return refusedWith(...reader.failures)
  return translateEnvelope(text, context, workdir)
}

const notAnEdit = (call: ToolItem, context: DialectContext, fault: string) =>
  failureOf(call, context, {
    code: 'unknown-tool',
    message: `${call.tool} is not an edit: ${fault}`,
    data: { tool: call.tool },
    hint: "Call apply_patch with the patch as its input, or `apply_patch <<'EOF'` alone, at most after `cd directory &&`.",
  })

/** The command of a shell call: an argument list or a script. Null = it has another form. */
function commandOf(call: ToolItem): readonly string[] | string | null {
  const name = SHELL_TOOLS.get(call.tool)
  const command = name !== undefined && Object.hasOwn(call.input, name) ? call.input[name] : undefined
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return null
  return command
}

function patchOfCommand(command: readonly string[] | string): ShellPatch | null {
  return typeof command === 'string' ? patchOfScript(command) : patchOfArguments(command)
}

/** Joins the call's directory and the script's; an absolute one of the script stands alone. */
function directoryOf(workdir: string, directory: string | null): string {
  if (directory === null) return workdir
  return workdir === '' || /^(?:[/\\]|[A-Za-z]:)/.test(directory) ? directory : `${workdir}/${directory}`
}
