import { type CallAnswer, callTool, unnamedSession } from '../../flow/call/call.ts'
import type { CallApproval, CallScreen } from '../../flow/call/call-run.ts'
import { acknowledgeCall } from '../../flow/call/call-settle.ts'
import { readPairs } from '../../flow/show.ts'
import type { World } from '../../flow/world.ts'
import { type DialectName, dialectNames } from '../../model/batch.ts'
import { limits } from '../../model/limits.ts'
import { visible } from '../../review/visible.ts'
import { usageError } from '../errors.ts'
import { permissionModeOf, permissionModeOption } from '../permission-mode.ts'
import { changeLine, diffText, noticesOf } from '../text.ts'
import type { Answer, Arguments, CliContext, Verb } from '../verb.ts'

export const call: Verb = {
  usage: 'call [call.json] [options]',
  summary: "Run one tool call of an agent, reads included, and answer in the form of the agent's own system.",
  details:
    'Runs one tool call, { "tool": "…", "input": { … } }, from a file or from standard input (`-`, the default): reads and edits of the\nsystems in the README\'s table of dialects. An edit is staged, shown, approved and landed like any change. Without a terminal, a rule, --yes or\n--wait nobody approves it, and the answer is "denied".\nWith --json: {"ok", "result": {"kind", "text"}, "change"}; kind is completed, denied, failed, invalid_arguments or unknown.\nEnds with code 0 where the call completed, else with 1.',
  examples: [
    ['galley call call.json --session s-42 --turn 7 --json', 'one call of a session, for a harness'],
    [
      'my-agent-call | galley call --dialect mino --wait 600 --json',
      'wait until a person approves it elsewhere',
    ],
    ['galley call --acknowledge c8m2k4q9ra --session s-42', 'go on after a call whose state is unknown'],
  ],
  options: (yargs) =>
    yargs
      .option('dialect', { choices: dialectNames, describe: 'Read the call as this system means it' })
      .option('session', { type: 'string', describe: 'Session of the agent: what it read, what it called' })
      .option('turn', {
        type: 'string',
        describe: 'Turn of the session, where the system limits calls per turn',
      })
      .option('permission-mode', permissionModeOption)
      .option('yes', {
        alias: 'y',
        type: 'boolean',
        default: false,
        describe: 'Approve in your name without asking',
      })
      .option('wait', { type: 'number', describe: 'Wait so many seconds for a decision made elsewhere' })
      .option('acknowledge', {
        type: 'string',
        describe: 'Instead of a call: take note that the outcome of this one is unknown',
      }),
  run: async (context, args) => {
    const session = nameOf(args, 'session')
    if (args['acknowledge'] !== undefined) return acknowledge(context, args, session ?? unnamedSession)
    const turn = nameOf(args, 'turn')
    const approval = await approvalOf(context, args)
    const [word] = args['_'] as readonly string[]
    const bytes = await context.readInput(String(word ?? '-'))
    const answer = await callTool(await context.world(), {
      call: bytes,
      approval,
      ...(args['dialect'] === undefined ? {} : { dialect: args['dialect'] as DialectName }),
      ...(session === undefined ? {} : { session }),
      ...(turn === undefined ? {} : { turn }),
      ...permissionModeOf(args),
    })
    return answerOf(context, answer)
  },
}

/** A name as batches allow it: one line with something on it. */
function nameOf(args: Arguments, option: 'session' | 'turn'): string | undefined {
  const value = args[option]
  if (value === undefined) return undefined
  const name = String(value).trim()
  if (name === '' || name.length > limits.nameMaxCharacters || /\p{Cc}/u.test(name)) {
    throw usageError(`--${option} is one line of 1 to ${limits.nameMaxCharacters} characters`)
  }
  return name
}

async function approvalOf(context: CliContext, args: Arguments): Promise<CallApproval> {
  const { wait } = args
  if (args['yes'] === true) {
    if (wait !== undefined) throw usageError('give --yes or --wait, not both')
    return { kind: 'yes' }
  }
  if (wait !== undefined) {
    if (!(Number(wait) >= 0)) throw usageError('--wait is a number of seconds')
    return {
      kind: 'wait',
      timeoutMs: Number(wait) * 1000,
      onWaiting: ({ id }) =>
        context.terminal.note(`galley: ${id} waits for approval: galley approve ${id}\n`),
    }
  }
  if (!context.terminal.isInteractive) return { kind: 'none' }
  const world = await context.world()
  return { kind: 'ask', ask: (screen) => ask(context, world, screen) }
}

/** Shows the system's own screen, or the diff, and asks. The whole diff is a command away in either case. */
async function ask({ terminal }: CliContext, world: World, { change, native }: CallScreen): Promise<boolean> {
  terminal.write(`${changeLine(change, terminal)}${noticesOf(change, terminal)}`)
  if (native === null) {
    terminal.write(`\n${diffText(await readPairs(world, change.id), terminal)}`)
    return terminal.confirm('Approve and land?')
  }
  terminal.write(`The whole diff: galley diff ${change.id}\n\n${native.text}`)
  return terminal.confirm(native.question)
}

function answerOf(context: CliContext, answer: CallAnswer): Answer {
  const { ok, result, change, recovered } = answer
  for (const { call: id, tool, kind, text } of recovered) {
    context.terminal.note(
      `galley: the call ${id} (${visible(tool)}) was interrupted: ${kind}. ${visible(text)}\n`,
    )
  }
  const value = { ok, result, change, ...(recovered.length === 0 ? {} : { recovered }) }
  // To a terminal nothing goes that it would obey; a program gets the text as it is.
  const text = context.terminal.isInteractive ? visible(result.text) : result.text
  const isFile = change === null && result.kind === 'completed'
  return { value, text: isFile || text.endsWith('\n') ? text : `${text}\n`, exitCode: ok ? 0 : 1 }
}

async function acknowledge(context: CliContext, args: Arguments, session: string): Promise<Answer> {
  if ((args['_'] as readonly string[]).length > 0) {
    throw usageError('--acknowledge takes the id of an earlier call and no call')
  }
  const request = { session, call: String(args['acknowledge']) }
  const { call: id, repeated } = await acknowledgeCall(await context.world(), request)
  return { value: { acknowledged: id, repeated }, text: `${id} is acknowledged; the session may go on\n` }
}
