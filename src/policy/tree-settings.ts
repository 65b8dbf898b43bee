/** One variable of a repository's configuration, as `git config --list -z` prints it. */
export interface Setting {
  /** Section and last part in lower case, the part between them as it was written. */
  readonly key: string
  readonly value: string
}

/**
 * What of the user's local settings is not written into a tree of galley's, each with its reason. Everything else goes along, settings that
 * git itself does not know above all: hooks ask for them by names of their own.
 *
 * Keys are matched as `section.name`, or `section.*.name` with a part in between.
 */
const LEFT_OUT: readonly (readonly [key: RegExp, reason: string])[] = [
  [/(token|passw|passphrase|secret|credential|api_?key|\.auth$|cookie|extraheader)/, 'a credential'],
  [/^(credential|http|imap|sendemail|lfs|svn|svn-remote|git-p4)\./, 'credentials, and how to reach servers'],
  [/^(include|includeif)\./, 'what it leads to was read with it'],
  [
    /^(filter|merge|diff|trailer|man|browser|tar)\.\*\.(?!xfuncname$|binary$|name$|key$|where$|if)/,
    'runs a program',
  ],
  [
    /^(hook|gpg|difftool|mergetool|guitool|pager|web|instaweb|sequence|interactive|daemon)\./,
    'runs a program',
  ],
  [/^(uploadpack|uploadarchive|receive|transfer|trace2|safe|init|maintenance|gc)\./, 'of servers and upkeep'],
  [
    /\.(command|cmd|program|driver|process|editor|helper|askpass|pager|sshcommand|external)$/,
    'runs a program',
  ],
  [/\.(gpgsign|signingkey)$/, 'asks for a key of the user’s'],
  [
    /^(index|splitindex|sparse|feature|extensions|fsmonitor)\./,
    'the form of the index and the repository is galley’s',
  ],
  [
    /^core\.(?!(filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf|abbrev|quotepath|commentchar|commentstring|whitespace|longpaths|protecthfs|protectntfs|bigfilethreshold|checkroundtripencoding|notesref|warnambiguousrefs|attributesfile)$)/,
    'names a place or a program, or how the repository is kept',
  ],
  [/^submodule\./, 'no submodule is checked out'],
  [
    /^remote\.\*\.(?!(url|fetch|tagopt|prune|prunetags|promisor|partialclonefilter|skipdefaultupdate|skipfetchall|followremotehead)$)/,
    'of pushing, or runs a program',
  ],
  [/^url\.\*\.pushinsteadof$/, 'of pushing'],
]

/** Of a repository that is set up by hand; what a program has filled is left out. */
const SETTINGS_MAX = 20_000
const SETTING_MAX_BYTES = 64 * 1024

/** The settings that a tree gets along: what hooks and people ask for, and nothing that runs a program or is a secret. */
export function settingsForTree(settings: readonly Setting[], place: { readonly root: string }): Setting[] {
  if (settings.length > SETTINGS_MAX) return []
  return settings.flatMap(({ key, value }) => {
    if (key.length + value.length > SETTING_MAX_BYTES || isLeftOut(key) || isProgramAlias(key, value))
      return []
    if (/^remote\..*\.url$/s.test(key)) return [{ key, value: readableAddress(value, place.root) }]
    return /^url\./.test(key) && hasUserInfo(key) ? [] : [{ key, value }]
  })
}

function isLeftOut(key: string): boolean {
  const [section, middle, name] = partsOf(key)
  const shape = middle === null ? `${section}.${name}` : `${section}.*.${name}`
  return LEFT_OUT.some(([pattern]) => pattern.test(shape))
}

/** `!` starts a shell; what begins with a hyphen may set anything for the command behind it. */
const isProgramAlias = (key: string, value: string): boolean =>
  key.startsWith('alias.') && !/^[A-Za-z][\w-]*(?: |$)/.test(value)

/** The parts of a key: what is between the first and the last dot may hold anything. */
export function partsOf(key: string): readonly [section: string, middle: string | null, name: string] {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const middle = first === last ? null : key.slice(first + 1, last)
  return [key.slice(0, first), middle, key.slice(last + 1)]
}

const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)([^/@]*)@/i

const hasUserInfo = (key: string): boolean => /\/\/[^/@]*@/.test(key) && !/\/\/git@/.test(key)

/** An address as it can be fetched from elsewhere: without a password, and from the root of the user's work tree where it is a path. */
export function readableAddress(address: string, root: string): string {
  const [, scheme, userInfo = ''] = USER_INFO.exec(address) ?? []
  if (scheme !== undefined) {
    const rest = address.slice(scheme.length + userInfo.length + 1)
    // A token may stand in place of the name there.
    if (/^(https?|ftps?):/i.test(scheme)) return `${scheme}${rest}`
    return `${scheme}${userInfo.replace(/:.*$/s, '')}@${rest}`
  }
  const isRelative = /^\.{1,2}(\/|$)/.test(address)
  return isRelative ? `${root}/${address}` : address
}

/** The text of a configuration file that holds these settings, in their order. */
export function configText(settings: readonly Setting[]): string {
  let head = ''
  const lines: string[] = []
  for (const { key, value } of settings) {
    const [section, middle, name] = partsOf(key)
    if (!/^[A-Za-z0-9.-]+$/.test(section) || !/^[A-Za-z][A-Za-z0-9-]*$/.test(name) || middle?.includes('\n'))
      continue
    const next =
      middle === null ? `[${section}]` : `[${section} "${middle.replaceAll(/["\\]/g, (c) => `\\${c}`)}"]`
    if (next !== head) lines.push(next)
    head = next
    lines.push(`\t${name} = "${quotedValue(value)}"`)
  }
  return `${lines.join('\n')}\n`
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\t': '\\t',
  '\b': '\\b',
  '"': '\\"',
  '\\': '\\\\',
}

const quotedValue = (value: string): string => value.replaceAll(/[\n\t\b"\\]/g, (c) => ESCAPES[c] ?? c)
