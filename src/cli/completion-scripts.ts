export type Shell = 'bash' | 'zsh' | 'fish'

/**
 * Each asks galley what could follow, and leaves files to the shell where that is nothing. What comes back is taken as words and never
 * read as shell text: titles are an agent's.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `# galley completion for bash
_galley_next() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done \\
    < <(galley completion bash --next -- "$@" 2>/dev/null)
}
_galley() { _galley_next "\${COMP_WORDS[@]:1:COMP_CWORD}"; }
# By git's own completion, for \`git galley\`.
_git_galley() {
  local at=1
  while [ "$at" -lt "$COMP_CWORD" ] && [ "\${COMP_WORDS[at]}" != galley ]; do at=$((at + 1)); done
  _galley_next "\${COMP_WORDS[@]:at+1:COMP_CWORD-at}"
}
complete -o bashdefault -o default -F _galley galley git-galley
`,
  zsh: `#compdef galley git-galley
# galley completion for zsh
_galley() {
  local line
  local -a found
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(galley completion zsh --next -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe -V galley found; else _files; fi
}
if [ "\${funcstack[1]}" = _galley ]; then _galley "$@"; else compdef _galley galley git-galley; fi
`,
  fish: `# galley completion for fish
function __galley_next
    set -l words (commandline -opc) (commandline -ct)
    galley completion fish --next -- $words[2..-1] 2>/dev/null
end
complete -c galley -a '(__galley_next)'
complete -c git-galley -a '(__galley_next)'
`,
}
