import { expect, test } from 'vitest'
import { configText, readableAddress, settingsForTree } from '../../src/policy/tree-settings.ts'

const keptOf = (key: string, value = 'x') => settingsForTree([{ key, value }], { root: '/home/r' })

test.each([
  ...['ticket.prefix', 'team.Some.Thing.list', 'user.name', 'commit.template', 'branch.main.merge'],
  ...['remote.origin.url', 'remote.origin.fetch', 'core.autocrlf', 'core.eol', 'pull.rebase', 'alias.st'],
  ...['merge.conflictstyle', 'diff.renames', 'diff.perl.xfuncname', 'url.https://a.example/.insteadof'],
])('%s goes along', (key) => expect(keptOf(key)).toHaveLength(1))

test.each([
  ...['core.hookspath', 'core.fsmonitor', 'core.pager', 'core.editor', 'core.sshcommand', 'core.worktree'],
  ...['core.gitproxy', 'core.askpass', 'core.bare', 'include.path', 'includeif.gitdir:x.path', 'gpg.program'],
  ...['filter.lfs.clean', 'filter.a.b.process', 'merge.own.driver', 'diff.own.command', 'diff.own.textconv'],
  ...[
    'diff.external',
    'credential.helper',
    'http.extraheader',
    'http.https://a.example.cookiefile',
    'pager.log',
  ],
  ...[
    'sequence.editor',
    'interactive.difffilter',
    'hook.x.command',
    'trailer.sign.cmd',
    'submodule.a.update',
  ],
  ...['remote.origin.uploadpack', 'remote.origin.receivepack', 'remote.origin.vcs', 'remote.origin.pushurl'],
  ...[
    'remote.origin.mirror',
    'url.git@h:.pushinsteadof',
    'github.token',
    'team.api-secret',
    'sendemail.smtppass',
  ],
  ...['extensions.refstorage', 'extensions.worktreeconfig', 'index.version', 'feature.manyfiles', 'gc.auto'],
  ...['commit.gpgsign', 'user.signingkey', 'difftool.x.cmd', 'url.https://me:pw@h/.insteadof'],
])('%s stays', (key) => expect(keptOf(key)).toEqual([]))

test.each(['!sh -c evil', '-c core.pager=evil log', ''])('an alias for %j stays', (value) =>
  expect(keptOf('alias.x', value)).toEqual([]),
)

test.each([
  ['https://token@h.example/r.git', 'https://h.example/r.git'],
  ['https://me:pw@h.example/r.git', 'https://h.example/r.git'],
  ['ssh://git:pw@h.example/r.git', 'ssh://git@h.example/r.git'],
  ['git@h.example:r.git', 'git@h.example:r.git'],
  ['../far.git', '/home/r/../far.git'],
  ['/srv/far.git', '/srv/far.git'],
])('the address %s can be read as %s', (from, to) => expect(readableAddress(from, '/home/r')).toBe(to))

test('a value is written so that it is one value, whatever it holds', () => {
  const text = configText([
    { key: 'a.x', value: 'one\n[core]\n\thooksPath = "evil" # \\' },
    { key: 'a.b "]\\.y', value: '' },
    { key: 'a.line\nbreak.z', value: 'no such name' },
  ])
  expect(text).toBe(
    '[a]\n\tx = "one\\n[core]\\n\\thooksPath = \\"evil\\" # \\\\"\n[a "b \\"]\\\\"]\n\ty = ""\n',
  )
})
