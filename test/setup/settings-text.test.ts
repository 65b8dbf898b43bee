import { parse as parseJsonc } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { jsonText } from '../../src/setup/edit-json.ts'
import { tomlText } from '../../src/setup/edit-toml.ts'

const existing = {
  json: [
    [
      'with a comment behind its last server',
      '{\n  "mcpServers": {\n    "other": { "command": "y" } // so\n  },\n  "servers": {}\n}\n',
    ],
    [
      'with comments, tabs and a comma at the end',
      '{\n\t// mine\n\t"theme": "dark", /* so */\n\t"list": [1, 2,],\n}\n',
    ],
    ['with CRLF and no line feed at its end', '{\r\n    "a": {"b": []},\r\n    "z": null\r\n}'],
    ['on one line', '{"a":1}'],
    ['empty', ''],
  ],
  toml: [
    [
      'with comments and other servers',
      '# mine\nmodel = "x"   # so\n\n[mcp_servers.other]\ncommand = "y"\n\n[[hooks.Stop]]\nz = 1\n',
    ],
    ['with CRLF and no line feed at its end', 'model = "x"\r\n\r\n[a.b]\r\nc = [\r\n  1,\r\n]'],
    ['empty', ''],
  ],
} satisfies Record<'json' | 'toml', [string, string][]>

const forms = {
  json: { text: jsonText, parse: (text: string): object => parseJsonc(text) },
  toml: { text: tomlText, parse: (text: string): object => parseToml(text) },
}
const way = ['mcpServers', 'galley']
const value = { command: 'npx', args: ['-y', 'git-galley', 'mcp'] }
const withoutCommas = (text: string) => text.replaceAll(',', '')

describe.each(['json', 'toml'] as const)('an entry in %s', (name) => {
  const { text: form, parse } = forms[name]

  test.each(existing[name])('is put into settings %s, and every other line stays', (_, text) => {
    const set = form.set(text, way, value)
    expect(set.kind).toBe('text')
    const written = set.kind === 'text' ? set.text : ''
    expect(form.find(written, way)).toEqual(value)
    if (text !== '') expect(parse(written)).toMatchObject(parse(text))
    const lines = text.split(/\r?\n/).slice(0, -1)
    for (const line of lines) expect(withoutCommas(written)).toContain(withoutCommas(line))
    expect(written.includes('\r\n')).toBe(text.includes('\r\n'))
    const removed = form.remove(written, way)
    expect(removed.kind === 'text' && form.find(removed.text, way)).toBe(undefined)
    if (removed.kind === 'text' && text !== '') expect(parse(removed.text)).toMatchObject(parse(text))
  })

  test('is none in what is not of its form', () => {
    const broken = name === 'json' ? '{"a":' : '[a'
    expect([form.find(broken, way), form.set(broken, way, value).kind]).toEqual([undefined, 'faulty'])
  })
})

test('an entry that leads elsewhere is replaced in its place', () => {
  const text = '{\n\t"mcpServers": {\n\t\t"galley": { "command": "x" }, // why\n\t\t"b": {}\n\t}\n}\n'
  const set = jsonText.set(text, way, { command: 'y' })
  expect(set.kind === 'text' && set.text).toBe(
    '{\n\t"mcpServers": {\n\t\t"galley": {\n\t\t\t"command": "y"\n\t\t}, // why\n\t\t"b": {}\n\t}\n}\n',
  )
})
