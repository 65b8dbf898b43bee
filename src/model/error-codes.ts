/**
 * Every public error code, with its one line for the README and the general advice given where the place of the
 * refusal knows no better. Codes are public and never renamed (DESIGN.md section 15).
 */
const codes = {
  usage: ['The command line is wrong.', 'Run `galley <verb> --help`.'],
  'invalid-arguments': [
    'The arguments of a tool call do not have the form that the tool takes.',
    'Each place is named by its JSON pointer; the tool says what it takes in its input schema.',
  ],
  'invalid-json': ['The input is not JSON.', 'Fix the JSON at the line and column named.'],
  'invalid-batch': [
    'The JSON does not have the form of a batch.',
    'Each place is named by its JSON pointer; the schema is schema/batch.schema.json in the package.',
  ],
  'empty-batch': ['The batch asks for no edit.', 'Add at least one edit.'],
  'too-large': [
    'An input exceeds a stated limit.',
    'Do it in smaller parts, or raise `limits` in the policy where it allows that.',
  ],
  'ambiguous-dialect': [
    'A tool call fits two dialects that mean different things.',
    'Name the system: `--dialect <name>` or "dialect" in the batch.',
  ],
  'unknown-tool': [
    'No dialect knows this tool call, or it is not an edit.',
    'See the table of dialects in the README.',
  ],
  'parse-error': [
    'A patch, diff or block list cannot be read.',
    'Put right the line that the message names, and send the whole text again.',
  ],
  'path-invalid': [
    'The path may not be used in a repository, or the name of a ref among galley’s.',
    'Use a plain relative path with `/` between its parts.',
  ],
  'outside-repository': ['The path leads outside the repository.', 'Use a path inside the work tree.'],
  'denied-path': [
    'The policy denies this path.',
    'A person can change `deny` in .galley.json, in a commit of their own.',
  ],
  'case-collision': [
    'Another path differs only in letter case or Unicode form.',
    'Use the existing spelling.',
  ],
  'not-found': [
    'The file does not exist.',
    'Check the path; to make a new file use `write` with mode `create`.',
  ],
  exists: [
    'The file already exists, or on a remote a ref in the place of one of galley’s.',
    'Quote the text of it that is to change, or write it with mode `overwrite`.',
  ],
  'parent-missing': [
    'The parent directory does not exist.',
    'Create a file in it with another tool call, or use another path.',
  ],
  'is-directory': ['The path is a directory.', 'Name a file.'],
  'special-file': [
    'The path is neither a regular file nor absent.',
    'galley edits regular files only: name one.',
  ],
  symlink: [
    'The path is, or goes through, a symbolic link.',
    'Edit the file that the link leads to, by its own path. The link itself is deleted, moved or pointed elsewhere in a tree: `galley run -- <command>`, or by hand and `galley capture <path>`.',
  ],
  'hard-linked': [
    'The file has several names on disk.',
    'Break the hard link first (copy the file over itself).',
  ],
  binary: [
    'The file holds NUL bytes; text edits cannot apply.',
    'Use `write` with base64, or a binary diff.',
  ],
  'not-utf8': [
    'Text of the request, or the place it names, is not UTF-8.',
    'Edit a part that is, or send bytes (`write` with base64).',
  ],
  'lfs-pointer': ['The file is kept by Git LFS.', 'Use `write` with base64 for the whole content.'],
  filtered: [
    'The path passes through a filter driver of the user.',
    'Edit it yourself, or allow the driver in your own configuration: `git config --global --add galley.allowFilter <driver>`.',
  ],
  'filter-failed': [
    'A filter driver that the user allows failed.',
    'Its words are shown: put right what they say, then try again.',
  ],
  submodule: [
    'The path is a submodule or lies in one.',
    'Run galley inside the submodule. Which commit it stands at is changed in a tree: `galley run -- <command>`, or by hand and `galley capture <path>`.',
  ],
  untracked: [
    'The file is not tracked in the base commit.',
    'Commit it first (`git add`, `git commit`), or capture it by name (`galley capture <path>`).',
  ],
  'no-match': [
    'The text to replace does not stand in the file.',
    'Read the file again and copy the text exactly; the nearest place is shown.',
  ],
  'ambiguous-match': [
    'The text to replace stands in several places.',
    'Add neighbouring lines until one place is left; the lines of all are named.',
  ],
  'already-applied': [
    'The result of the edit stands there already.',
    'Look at the line named: if it is this edit that stands there, leave it out; else read the file again and copy the old text.',
  ],
  overlap: [
    'Two edits of one batch touch the same bytes.',
    'Merge them into one edit, or use "order": "sequential".',
  ],
  'no-change': ['The edit changes nothing.', 'Leave it out.'],
  'out-of-range': [
    'The lines named are not in the file.',
    'Read the file again; its number of lines is given.',
  ],
  'weak-evidence': [
    'The expected lines are too few or too short to prove the place.',
    'Quote at least three lines, four if one is shorter than three bytes; or give the blob id of the file as `galley read` prints it.',
  ],
  omission: ['The new text contains a placeholder for omitted text.', 'Send the text in full.'],
  'not-read': [
    'The edit names lines that were never read.',
    'Read the file first (`galley read`), then repeat with its blob id.',
  ],
  'stale-read': ['The file changed since it was read.', 'Read it again; what changed is shown.'],
  'unknown-change': ['No change has this id.', 'See `galley status` and `galley log`.'],
  'ambiguous-name': ['Several changes begin with these characters.', 'Give more characters of the id.'],
  'wrong-state': ['The change is in a state that does not allow this.', 'See `galley show <id>`.'],
  'digest-mismatch': [
    'The bytes are not the ones that were approved or named.',
    'Look at the change again and approve what you see.',
  ],
  undecided: [
    'A review is not done: some hunks are neither accepted nor rejected.',
    'Decide on each of them.',
  ],
  'not-approved': [
    'The change has no valid approval.',
    'Review and approve it: `galley show <id>`, `galley approve <id>`.',
  ],
  'agent-may-not-approve': [
    'The environment shows an agent at work, and this is for a person to do.',
    'Ask a person to run `galley approve <id>` in their own terminal.',
  ],
  expired: ['The approval has expired.', 'Approve again: `galley approve <id>`.'],
  'checks-failed': ['A required check failed.', 'See `galley show <id>` for its output.'],
  'check-missing': ['A required check did not run.', 'Run `galley check <id>`, or install what it needs.'],
  'setup-failed': [
    'The setup command of the policy failed in a scratch tree.',
    'Its output says why; `setup` in .galley.json names the command.',
  ],
  'read-only': [
    'The policy, or the mode given, allows reading only.',
    'A person can change `mode` in .galley.json.',
  ],
  denied: ['The approval was denied.', 'Ask what should be different, then propose again.'],
  'in-progress': [
    'The repository is in the middle of a merge, rebase, cherry-pick, revert, bisect or am.',
    'Finish or abort that first.',
  ],
  unmerged: ['The index holds unmerged entries.', 'Resolve them first.'],
  locked: [
    'Another git command holds a lock.',
    'Wait for it to end; if none runs, git says which file to remove.',
  ],
  busy: ['Another galley process is landing in this repository.', 'Try again when it has ended.'],
  'branch-moved': ['The branch is not where it was expected.', 'Propose again on the new tip.'],
  conflict: [
    'The change conflicts with newer commits.',
    'Send the edits again, for the files as they are now: `galley propose --revise <id> batch.json`.',
  ],
  'overlaps-uncommitted': [
    'Uncommitted work stands where the change would write.',
    'Commit that work, or put it aside, and try again.',
  ],
  'would-overwrite': ['A file that git does not track stands in the way.', 'Move it away, then repeat.'],
  'changed-after-approval': ['A file changed after its approval.', 'Propose and approve again.'],
  'checked-out-elsewhere': ['The branch is checked out in another work tree.', 'Land from that work tree.'],
  stale: ['The change stands on something that is gone.', 'Propose again.'],
  'hook-refused': ['A hook of the repository refused.', 'Its output is shown: put right what it says.'],
  'not-fetched': [
    'This partial clone lacks an object, and its remote did not give it.',
    'Nothing was changed. See with `git fetch` what is in the way, then try again.',
  ],
  'io-error': [
    'The system refused to read or write.',
    'Nothing was changed: remove the reason given, then try again.',
  ],
  'git-failed': [
    'git refused, for a reason of the repository or the machine.',
    "Nothing was changed; git's own words say why, and `galley doctor` and `git fsck` look further.",
  ],
  'root-commit': [
    'A root or shallow-boundary commit cannot be undone.',
    'Delete the files by a change of their own.',
  ],
  'needs-mainline': [
    'A merge commit needs the parent to go back to.',
    'Name the commit to `galley undo`, with `-m` and the number of the parent.',
  ],
  'overlaps-later': ['Later changes touch the same lines.', 'Take those back first, or edit by hand.'],
  'not-a-repository': ['This is not a git repository.', 'Run galley inside one, or give `-C <dir>`.'],
  'unsupported-repository': [
    'The repository uses something that galley does not support.',
    'The message names it: do without it, or work in another clone.',
  ],
  'git-too-old': ['git is missing or older than 2.39.', 'Install git 2.39.4 or newer.'],
  'dubious-ownership': [
    'git refuses the repository because another user owns it.',
    'See `git help config`, safe.directory; galley never adds the exception.',
  ],
  'no-identity': ['git does not know who you are.', 'Set user.name and user.email with `git config`.'],
  'invalid-policy': [
    '.galley.json has faults.',
    'Every fault is listed with its line; fix them in a commit of your own.',
  ],
  unapproved: [
    'A commit is not covered by an approval.',
    'Take it to a change: `galley capture --staged` of what is staged, or after `git reset --soft` of a commit.',
  ],
  forged: [
    'An approval or trailer does not stand up to the objects.',
    'Do not trust this commit, unless it is yours; the data says which change it names.',
  ],
  unreachable: [
    'A server does not answer, or its certificate does not fit.',
    'Check that it runs, and its address; then call again.',
  ],
  'wrong-server': [
    'What answers there is no server of the protocol, or refuses what the protocol allows.',
    'Check the address; on the server, the connector plugin must be installed and switched on.',
  ],
  'login-failed': [
    'The server wants a login, and took none.',
    'Give name and password at the prompt, or in GALLEY_CONNECT_USER and GALLEY_CONNECT_PASSWORD.',
  ],
  internal: [
    'A fault of galley itself.',
    'Please report it, with what was asked for and `galley.log` of the folder that galley keeps in the git directory.',
  ],
} as const satisfies Record<string, readonly [meaning: string, hint: string]>

export type ErrorCode = keyof typeof codes

export const errorCodes = Object.keys(codes) as readonly ErrorCode[]

/** The code's one line, as the README prints it. */
export const meaningOf = (code: ErrorCode): string => codes[code][0]

/** General advice for a code; a refusal's own `hint` goes before it. */
export const hintFor = (code: ErrorCode): string => codes[code][1]
