/** Every wait, loop, queue, input and output of galley has its bound here. Bytes, milliseconds and counts say so. */
export const limits = {
  /** A batch, as UTF-8 JSON (DESIGN.md section 4). */
  batchMaxBytes: 32 * 1024 * 1024,
  /** Nesting of a batch's JSON. */
  jsonMaxDepth: 64,
  batchMaxEdits: 50_000,
  /** Lines of one patch, diff or block list. */
  patchMaxLines: 2_000_000,
  /** What the binary patches of one batch may inflate to, all together. */
  binaryPatchMaxBytes: 256 * 1024 * 1024,
  /** Failing edits named in one refusal; the rest are counted. */
  failuresShown: 50,
  /** Candidate line numbers named in one refusal. */
  candidatesShown: 20,
  /** Text quoted from a file in one message. */
  quoteMaxCharacters: 240,
  fileMaxBytes: 64 * 1024 * 1024,
  pathMaxBytes: 4096,
  pathMaxDepth: 128,
  segmentMaxBytes: 255,
  titleMaxCharacters: 200,
  bodyMaxBytes: 64 * 1024,
  /** Comments of one change, and what one keeps of the lines that it is about. Characters are UTF-16 units. */
  commentsMax: 1_000,
  quotedLinesMax: 200,
  quotedLineMaxCharacters: 1_000,
  /** What one reviewer did on one change and has not sent; how long to wait for another process that writes it. */
  draftMaxBytes: 8 * 1024 * 1024,
  draftWaitMs: 5_000,
  /** Names in a batch: the agent and its session, the idempotency key, revisions, branches, tools. UTF-16 units. */
  nameMaxCharacters: 512,
  /** Entries of one edited directory looked at for case collisions. */
  directoryMaxEntries: 200_000,
  gitOutputMaxBytes: 256 * 1024 * 1024,
  gitTimeoutMs: 120_000,
  checkDefaultTimeoutMs: 10 * 60_000,
  checkOutputMaxBytes: 1024 * 1024,
  /** Longest wait for one other landing of the same repository, and for all those that came before. */
  landingLockWaitMs: 30_000,
  landingLineWaitMs: 10 * 60_000,
  /** Longest wait for git's own `index.lock`. */
  indexLockWaitMs: 5_000,
  /** Commits that one undo takes back together. */
  undoMaxCommits: 1_000,
  /** Commits searched for those that stand in an undo's way. */
  undoSearchedCommits: 20_000,
  waitDefaultTimeoutMs: 10 * 60_000,
  policyMaxBytes: 1024 * 1024,
  /** One glob of the policy, in UTF-16 units, and the patterns that its braces may expand to. */
  globMaxCharacters: 1024,
  globMaxAlternatives: 256,
  sessionMaxBytes: 16 * 1024 * 1024,
  /** Revisions of one change, events of its log, and members of any list in an event or approval that came from elsewhere. */
  revisionsMax: 10_000,
  logMaxEvents: 100_000,
  listMaxItems: 100_000,
  /** One approval: its tag object. One event of a log: its JSON. */
  approvalMaxBytes: 1024 * 1024,
  eventMaxBytes: 64 * 1024 * 1024,
  /** A commit of a log, and its tree: an event's text and its attachments lie in blobs. */
  logObjectMaxBytes: 1024 * 1024,
  /** Refs of galley's that a remote may list (others are passed over, and named up to a number); refs in one call of git. */
  exchangeMaxRefs: 2_000_000,
  exchangeForeignShown: 50,
  exchangeRefsAtOnce: 200,
  /** What one push may bring to a server: refs of galley's, and events of one log. */
  pushedRefsMax: 10_000,
  pushedEventsMax: 5_000,
  /** Commits that one push may give a branch, where the server sets no other number: some twenty seconds. */
  pushedCommitsMax: 20_000,
  /** A remote that says nothing for so long is given up. */
  exchangeSilentMs: 120_000,
  /** How often a push that lost a race looks again at what the remote holds. */
  exchangeTries: 8,
  /** How often a lander tries one change that others are faster with, and how long its claim holds. */
  queueTries: 20,
  queueClaimMs: 15 * 60_000,
  /** How far the clock of another machine may be ahead. */
  clockAheadMs: 24 * 3_600_000,
  /** The list of allowed signers. */
  signersMaxBytes: 1024 * 1024,
  /** What one batch's searching may cost, in bytes looked at; dearer steps count as so many. A few seconds. */
  searchMaxBytes: 4 * 1024 * 1024 * 1024,
} as const
