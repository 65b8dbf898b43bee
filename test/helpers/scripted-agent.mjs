/**
 * An agent that speaks the Agent Client Protocol and does what its prompts say: each is a list of steps as JSON. It tells what it heard as
 * its answer's `_meta`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

const waiting = new Map()
let cwd = process.cwd()
let version = 1
let opened = null
let asked = 0
let stopReason = 'end_turn'
let refuses = process.env.REFUSE_FIRST === '1'

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = ++asked
    waiting.set(id, resolve)
    send({ id, method, params })
  })

const steps = {
  write: ({ path, text }) => {
    const file = path.startsWith('/') ? path : `${cwd}/${path}`
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  },
  ask: ({ method, params }, sessionId) =>
    ask(method, JSON.parse(JSON.stringify({ sessionId, ...params }).replaceAll('{{cwd}}', cwd))),
  tell: ({ method, params }) =>
    send({ method, params: JSON.parse(JSON.stringify(params).replaceAll('{{cwd}}', cwd)) }),
  raw: ({ text }) => process.stdout.write(`${text}\n`),
  exit: ({ code }) => process.exit(code),
  stop: ({ reason }) => {
    stopReason = reason
  },
  hang: () => new Promise(() => undefined),
}

/** As it came: no path in it is changed on the way back. */
const hidden = (value) => Buffer.from(JSON.stringify(value)).toString('base64')

async function prompted({ sessionId, prompt }) {
  const told = []
  const { text } = prompt[0]
  for (const step of text.startsWith('[') ? JSON.parse(text) : []) {
    const answer = await steps[step.do](step, sessionId)
    if (answer !== undefined) told.push(answer)
  }
  return { told: hidden(told), heard: hidden(prompt) }
}

async function answer({ id, method, params }) {
  if (method === 'initialize') {
    version = params.protocolVersion
    return send({ id, result: { protocolVersion: version } })
  }
  if (method === 'session/new' && refuses) {
    refuses = false
    return send({ id, error: { code: -32000, message: 'Authentication required' } })
  }
  if (method === 'session/new' || method === 'session/load') {
    cwd = params.cwd
    opened = params
    return send({
      id,
      result: {
        sessionId: params.sessionId ?? 's-1',
        _meta: { opened: hidden(opened), run: process.env.GALLEY_RUN },
      },
    })
  }
  if (method !== 'session/prompt') return send({ id, result: { echo: { method, params } } })
  if (version === 2) send({ id, result: {} })
  const _meta = await prompted(params)
  if (version === 1) return send({ id, result: { stopReason, _meta } })
  send({
    method: 'session/update',
    params: {
      sessionId: 's-1',
      update: { sessionUpdate: 'state_update', state: 'idle', stopReason, _meta },
    },
  })
}

/** What is no JSON, or asks for what is not there, is passed over: the tests send anything. */
function parsed(line) {
  try {
    return JSON.parse(line) ?? {}
  } catch {
    return {}
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = parsed(line)
  if (message.method === undefined) waiting.get(message.id)?.(message.result ?? { error: message.error })
  else if (message.id !== undefined) void answer(message).catch(() => undefined)
  else if (String(message.method).startsWith('_')) send({ method: message.method, params: message.params })
})
