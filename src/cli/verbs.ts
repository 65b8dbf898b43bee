import type { VerbTable } from './verb.ts'

/** Every verb with its one line and the module that holds it. */
export const verbs: VerbTable = {
  read: {
    summary: 'Print a file with its blob id',
    load: async () => (await import('./verbs/read.ts')).read,
  },
  call: {
    summary: "Run one tool call of an agent, in its system's form",
    load: async () => (await import('./verbs/call.ts')).call,
  },
  propose: {
    summary: 'Stage a batch of edits as a change',
    load: async () => (await import('./verbs/propose.ts')).propose,
  },
  apply: {
    summary: 'Propose, review at the prompt, and land',
    load: async () => (await import('./verbs/apply.ts')).apply,
  },
  check: {
    summary: 'Run the checks of a change again',
    load: async () => (await import('./verbs/check.ts')).check,
  },
  show: {
    summary: 'Show a change: files, checks, approvals, log',
    load: async () => (await import('./verbs/show.ts')).show,
  },
  diff: { summary: 'Print the diff of a change', load: async () => (await import('./verbs/diff.ts')).diff },
  review: {
    summary: 'Decide on a change hunk by hunk',
    load: async () => (await import('./verbs/review.ts')).review,
  },
  approve: {
    summary: 'Approve a change as it stands',
    load: async () => (await import('./verbs/approve.ts')).approve,
  },
  comment: {
    summary: 'Say something of a change, or of its lines',
    load: async () => (await import('./verbs/comment.ts')).comment,
  },
  reject: {
    summary: 'Reject a change, with a reason',
    load: async () => (await import('./verbs/reject.ts')).reject,
  },
  land: {
    summary: 'Re-check an approved change and fast-forward to it',
    load: async () => (await import('./verbs/land.ts')).land,
  },
  undo: {
    summary: 'Revert a landed change or any commit',
    load: async () => (await import('./verbs/undo.ts')).undo,
  },
  redo: {
    summary: 'Bring back what was undone',
    load: async () => (await import('./verbs/redo.ts')).redo,
  },
  capture: {
    summary: 'Turn uncommitted work into a change',
    load: async () => (await import('./verbs/capture.ts')).capture,
  },
  run: {
    summary: 'Run an agent in a scratch tree, and capture what it does',
    load: async () => (await import('./verbs/run.ts')).run,
  },
  wait: {
    summary: 'Wait until a change is decided',
    load: async () => (await import('./verbs/wait.ts')).wait,
  },
  status: {
    summary: 'List what waits for a decision',
    load: async () => (await import('./verbs/status.ts')).status,
  },
  log: { summary: 'List changes, newest first', load: async () => (await import('./verbs/log.ts')).log },
  open: {
    summary: "Print the path of a change's scratch tree",
    load: async () => (await import('./verbs/open.ts')).open,
  },
  push: {
    summary: 'Give changes and approvals to a remote',
    load: async () => (await import('./verbs/push.ts')).push,
  },
  fetch: {
    summary: 'Take changes and approvals from a remote',
    load: async () => (await import('./verbs/fetch.ts')).fetch,
  },
  enqueue: {
    summary: "Put an approved change into a remote's landing queue",
    load: async () => (await import('./verbs/enqueue.ts')).enqueue,
  },
  dequeue: {
    summary: "Take a change out of a remote's landing queue",
    load: async () => (await import('./verbs/dequeue.ts')).dequeue,
  },
  queue: {
    summary: 'List what waits to land on a remote, or land it',
    load: async () => (await import('./verbs/queue.ts')).queue,
  },
  connect: {
    summary: 'Serve this repository to an Agent Zero server',
    load: async () => (await import('./verbs/connect.ts')).connect,
  },
  hub: {
    summary: "Be the server's end of Agent Zero's protocol",
    load: async () => (await import('./verbs/hub.ts')).hub,
  },
  recover: {
    summary: 'Finish or roll back a landing that was killed',
    load: async () => (await import('./verbs/recover.ts')).recover,
  },
  doctor: {
    summary: 'Say what keeps changes from landing, and what puts it right',
    load: async () => (await import('./verbs/doctor.ts')).doctor,
  },
  verify: {
    summary: 'Check commits against approvals, from the objects alone',
    load: async () => (await import('./verbs/verify.ts')).verify,
  },
  hooks: {
    summary: "Put galley's hooks in place, take them away, or look",
    load: async () => (await import('./verbs/hooks.ts')).hooks,
  },
  hook: {
    summary: "Answer one of git's hooks; for the scripts that install puts in place",
    load: async () => (await import('./verbs/hook.ts')).hook,
  },
  policy: { summary: 'Check the policy file', load: async () => (await import('./verbs/policy.ts')).policy },
  setup: {
    summary: 'Connect the agents on this machine to the gate',
    load: async () => (await import('./verbs/setup.ts')).setup,
  },
  mcp: {
    summary: 'Serve agents over the Model Context Protocol',
    load: async () => (await import('./verbs/mcp.ts')).mcp,
  },
  acp: {
    summary: 'Stand between an editor and its agent',
    load: async () => (await import('./verbs/acp.ts')).acp,
  },
  gc: {
    summary: 'Bound what galley keeps',
    load: async () => (await import('./verbs/gc.ts')).gc,
  },
  purge: {
    summary: 'Remove galley from the repository',
    load: async () => (await import('./verbs/purge.ts')).purge,
  },
  completion: {
    summary: 'Print the script by which a shell completes',
    load: async () => (await import('./verbs/completion.ts')).completion,
  },
  demo: {
    summary: 'Show the whole job in a throw-away repository',
    load: async () => (await import('./verbs/demo.ts')).demo,
  },
}
