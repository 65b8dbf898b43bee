/** What galley does instead of a row, and why. */
export type Other =
  | { readonly text: string; readonly why: string }
  | { readonly code: string; readonly why: string }
  | { readonly skipped: true; readonly why: string }

export type Others = Readonly<Record<string, Other>>

const one = 'there must be exactly one place below the anchor'
const noPhantom = 'a final newline begins no line'
export const contextPatchOthers: Others = {
  'stacked anchors only last used': { code: 'parse-error', why: 'drops the outer anchor' },
  'stacked anchors class/def': { code: 'parse-error', why: 'edits the wrong class' },
  'u2028 on added line': { text: 'x\u2028 y\n', why: 'only LF ends a line' },
  'vertical tab in patch line splits': { text: 'c\n', why: 'only LF ends a line' },
  'u2028 in patch line splits': { text: 'c\n', why: 'only LF ends a line' },
  'ambiguous with anchor picks first': { code: 'ambiguous-match', why: one },
  'two hunks in order': { code: 'ambiguous-match', why: one },
  'duplicate anchor: first wins': { code: 'ambiguous-match', why: 'the anchor stands twice' },
  'duplicate anchor second hunk uses next': { code: 'ambiguous-match', why: 'the anchor stands twice' },
  'trailing ws in file tolerated': { text: 'alpha  \nB\n', why: 'context keeps its own bytes' },
  'trailing ws in patch tolerated': { text: 'alpha\nB\n', why: 'context keeps its own bytes' },
  'nbsp trailing tolerated by rstrip': {
    code: 'no-match',
    why: 'of blanks only space and tab are forgiven',
  },
  'delete last line no trailing nl': { text: 'alpha\n', why: 'the newline before is not named' },
  'crlf content direct': { text: 'x\r\nb\r\n', why: 'line endings stay' },
  'bom first line anchor': { text: '\ufeffimport os\nimport sys\nx\n', why: 'the mark is no text' },
  'phantom last line matchable': { code: 'no-match', why: noPhantom },
  'phantom: delete trailing newline': { code: 'no-change', why: noPhantom },
  'empty file replace blank': { code: 'no-match', why: noPhantom },
  'empty file keep blank': { code: 'no-match', why: noPhantom },
}

const anywhere = 'the text may stand anywhere, as in the tool of the same arguments on the server'
export const exactReplaceOthers: Others = {
  'substring of a line': { text: 'timeout = 60\n', why: anywhere },
  'trailing newline in both': { text: 'alpha\nBETA\ngamma\n', why: anywhere },
  'leading newline': { text: 'alpha\nBETA\ngamma\n', why: anywhere },
  'old spans mid-line': { text: 'alXta\ngamma\n', why: anywhere },
  'trailing ws fuzzy': { text: 'B  \n', why: 'the blanks are not named, so they stay' },
  'old is only newline': { code: 'ambiguous-match', why: 'there are four newlines' },
}

const fused = 'content without a newline gets one: lines are not fused'
export const editsOthers: Others = {
  'insert at end, no trailing newline in file': { text: 'a\nb\nX\n', why: fused },
  'content without newline merges next line': { text: 'l1\nX\nl3\nl4\nl5\n', why: fused },
  'insert without newline merges': { text: 'l1\nX\nl2\nl3\nl4\nl5\n', why: fused },
  'content number': { text: 'l1\n5\nl3\nl4\nl5\n', why: fused },
  'from only (no to, no content) deletes': { code: 'invalid-batch', why: 'deletes a line unasked' },
  'from + empty content no to': { code: 'no-change', why: 'inserts nothing' },
  'from 0 treated as 1': { code: 'out-of-range', why: 'guesses a line' },
  'from missing treated as 1': { code: 'invalid-batch', why: 'guesses a line' },
  'two inserts same line: reversed': {
    text: 'l1\nA\nB\nl2\nl3\nl4\nl5\n',
    why: 'inserts keep their order',
  },
  'insert then replace same line': { text: 'l1\nA\nB\nl3\nl4\nl5\n', why: 'the insert is not lost' },
  'overlapping ranges corrupt': { code: 'overlap', why: 'destroys lines' },
  'nested ranges': { code: 'overlap', why: 'destroys lines' },
  'crlf file becomes lf': { text: 'a\r\nX\r\nc\r\n', why: 'line endings stay' },
  'lone cr file becomes lf': { text: 'a\rX\rc\r', why: 'line endings stay' },
  'nul bytes accepted': { code: 'binary', why: 'no text' },
  'empty file delete': { code: 'out-of-range', why: 'there is no line' },
  'patch_text crlf file becomes lf': { text: 'a\r\nX\r\nc\r\n', why: 'line endings stay' },
  'patch_text invalid utf8 replaced by U+FFFD': { code: 'not-utf8', why: 'destroys bytes' },
  'patch_text Update File path is ignored': { code: 'invalid-batch', why: 'edits another file than named' },
  'lone surrogate in content truncates file': {
    code: 'not-utf8',
    why: 'refused before anything is written',
  },
  'readonly mode': { skipped: true, why: "the mode is the policy's" },
  'delete beyond end': { code: 'out-of-range', why: 'deletes nothing' },
}

const disk = 'made of links and directories of the work tree'
export const writeOthers: Others = {
  'null content writes None': { code: 'invalid-batch', why: 'writes a text that nobody sent' },
  'list content': { code: 'invalid-batch', why: 'writes a text that nobody sent' },
  'missing content key writes empty': { code: 'invalid-batch', why: 'the tool requires it of the model' },
  'lone surrogate truncates': { code: 'not-utf8', why: 'refused before anything is written' },
  'read only': { skipped: true, why: "the mode is the policy's" },
  'mkdir parents': { skipped: true, why: 'another path than f.txt; see below' },
  'parent is a file': { skipped: true, why: disk },
  'through symlink writes target; realpath is target': { skipped: true, why: disk },
  'dangling symlink creates target': { skipped: true, why: disk },
}
