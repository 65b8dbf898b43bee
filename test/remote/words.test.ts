import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { drawTree } from '../../src/flow/host/draw-tree.ts'
import { capabilitiesFault, openServer } from '../../src/remote/host-http.ts'
import { eventText, footerText } from '../../src/remote/host-screen.ts'
import { originFault } from '../../src/remote/hub-sockets.ts'
import { hubRequest } from '../../src/remote/patch-request.ts'
import { acknowledged } from '../../src/remote/wire.ts'

const good = {
  protocol: 'a0-connector.v1',
  websocket_namespace: '/ws',
  websocket_handlers: ['plugins/_a0_connector/ws_connector'],
  auth: ['session'],
  auth_required: false,
  features: [],
}

test.each([
  [good, null],
  [null, 'the capabilities are no JSON object'],
  [{ ...good, protocol: 'v2' }, 'Unsupported connector protocol: expected a0-connector.v1, got "v2"'],
  [{ ...good, websocket_namespace: '/other' }, 'Unsupported WebSocket namespace: "/other"'],
  [
    { ...good, websocket_handlers: [] },
    "Connector handler activation is missing 'plugins/_a0_connector/ws_connector' in capabilities",
  ],
  [{ ...good, auth: ['key'] }, 'Unsupported connector auth contract: expected [\'session\'], got ["key"]'],
  [{ ...good, auth_required: 'no' }, 'Connector capabilities must include boolean auth_required'],
  [{ ...good, features: {} }, 'Connector capabilities features payload is invalid'],
  [
    { ...good, features: ['connector_login'] },
    'The server wants connector_login, which this protocol has no more',
  ],
])('a server that says %j: %s', (said, fault) => {
  expect(capabilitiesFault(said)).toBe(fault)
})

test.each(['', 'localhost:5080', 'ftp://host', 'http://ada:secret@host', 'file:///etc/passwd'])(
  '%j is no address',
  (address) => {
    expect(() => openServer(address)).toThrow('is no address of a server')
  },
)

test.each<[unknown, object]>([
  [undefined, { ok: true, data: {} }],
  [
    {
      results: [
        { ok: true, data: { a: 1 } },
        { ok: false, error: { code: 'X' } },
      ],
    },
    { ok: true, data: { a: 1 } },
  ],
  [
    { results: [{ ok: false, error: { code: 'AUTH_REQUIRED', error: 'no' } }] },
    { ok: false, code: 'AUTH_REQUIRED', error: 'no' },
  ],
  [{ results: 'x' }, { ok: true, data: {} }],
])('the answer %j', (ack, taken) => {
  expect(acknowledged(ack)).toEqual(taken)
})

test.each<[object, string | null]>([
  [{ host: '127.0.0.1:80', origin: 'http://127.0.0.1:80' }, null],
  [{ host: 'localhost:5080', referer: 'http://localhost:5080/' }, null],
  [{ host: '127.0.0.1:80' }, 'missing_origin'],
  [{ host: '127.0.0.1:80', origin: 'null' }, 'invalid_origin'],
  [{ origin: 'http://127.0.0.1' }, 'missing_host'],
  [{ host: 'evil.example:80', origin: 'http://evil.example:80' }, 'missing_host'],
  [{ host: '127.0.0.1:81', origin: 'http://evil.example:81' }, 'origin_host_mismatch'],
  [{ host: '127.0.0.1:81', origin: 'http://127.0.0.1:82' }, 'origin_port_mismatch'],
])('a connection with %j: %s', (headers, fault) => {
  expect(originFault({ headers } as IncomingMessage)).toBe(fault)
})

describe('the arguments of text_editor_remote', () => {
  test.each<[object, string]>([
    [{}, 'action is required (read, write, or patch)'],
    [{ action: 'delete', path: 'f' }, "Unknown action: 'delete'. Use read, write, or patch."],
    [{ action: 'read', path: ' ' }, 'path is required'],
    [{ action: 'write', path: 'f' }, 'content is required for write'],
    [{ action: 'patch', path: 'f', patch_text: ' \n' }, 'patch_text must not be empty'],
    [
      { action: 'patch', path: 'f', old_text: 'a', edits: [] },
      'provide exactly one patch form: edits, patch_text, or old_text/new_text',
    ],
    [{ action: 'patch', path: 'f', new_text: 'a' }, 'old_text is required for exact replace'],
    [{ action: 'patch', path: 'f' }, 'edits, patch_text, or old_text/new_text is required for patch'],
    [
      { action: 'write', path: 'f', content: 'ü'.repeat(131_073) },
      'text_editor_remote limits write and patch content to 262144 bytes; received 262146. Use the authenticated HTTP bulk transfer path instead.',
    ],
  ])('%j: %s', (input, text) => {
    expect(hubRequest(input as Readonly<Record<string, unknown>>)).toEqual({ kind: 'refused', text })
  })

  test('an exact replace becomes a patch of whole lines', () => {
    expect(hubRequest({ action: 'Patch', path: 'f.txt', old_text: 'a\nb', new_text: 'c' })).toEqual({
      kind: 'operation',
      action: 'patch',
      path: 'f.txt',
      args: { patch_text: '*** Begin Patch\n*** Update File: f.txt\n-a\n-b\n+c\n*** End Patch' },
    })
  })
})

describe('the tree', () => {
  test('has folders first, and counts what it leaves out', () => {
    const many = Array.from({ length: 22 }, (_, i) => `m/${i}`)
    const deep = ['a/b/c/d/e/f/g']
    expect(drawTree('/r', ['z', 'B', 'src/x', ...many, ...deep]).split('\n')).toEqual(
      [
        '/r/',
        '├── a/',
        '│   └── b/',
        '│       └── c/',
        '│           └── d/',
        '│               └── e/',
        '├── m/',
      ]
        .concat(
          [0, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 2, 20, 21, 3, 4, 5, 6, 7].map((n) => `│   ├── ${n}`),
        )
        .concat(['│   └── # 2 more files', '├── src/', '│   └── x', '├── B', '└── z']),
    )
  })

  test('ends after 250 lines', () => {
    const lines = drawTree(
      '/r',
      Array.from({ length: 400 }, (_, i) => `${i % 20}/${i % 19}/${i}`),
    ).split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([251, '# limit reached'])
  })

  test('shows names, and obeys none', () => {
    expect(drawTree('/r', ['a\u001b[2Jb\nc'])).not.toMatch(/\u001b|b\nc/)
  })
})

describe('the footer', () => {
  const footer = {
    connection: 'connected to http://h',
    writes: false,
    pending: 2,
    last: 'read a.txt: done',
    asked: null,
  }
  test.each([
    [footer, 120, 'F3 Read only · connected to http://h · 2 waiting · read a.txt: done'],
    [{ ...footer, writes: true, last: '' }, 120, 'F3 Read&Write · connected to http://h · 2 waiting'],
    [footer, 40, 'F3 Read only · connected to http://h ·…'],
    [{ ...footer, asked: { id: 'g7k2m9', leftMs: 23_400 } }, 80, 'Approve and land g7k2m9? [y,n] 24 s'],
  ])('%j in %d columns', (facts, columns, text) => {
    expect(footerText(facts, columns)).toBe(text)
  })

  test('obeys nothing that a server says', () => {
    const text = eventText({
      kind: 'answered',
      op: 'read\u001b]0;x\u0007',
      path: 'a\u202eb',
      error: 'x\u001b[2J',
      change: null,
    })
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/)
  })
})
