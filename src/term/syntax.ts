import { Worker } from 'node:worker_threads'
import type { Paint } from './draw-line.ts'
import type { SyntaxAnswer, SyntaxQuestion } from './syntax-worker.ts'

/** Colours of tokens by line, from 1; empty until they are known. */
export interface Syntax {
  readonly paintsOf: (bytes: Uint8Array, path: string, line: number, isChanged: boolean) => readonly Paint[]
  readonly close: () => void
}

/** Larger files are shown without colours. */
const MOST_BYTES = 300_000
const MOST_MS = 600

/** As the worker numbers the kinds. On changed lines the colour tells which side it is; what tells the kind is the weight. */
const CONTEXT = ['35', '33', '2', '36', '34', '36', '36', '36', '33']
const CHANGED = ['1', '', '2', '', '', '', '', '', '']

const LANGUAGES: Readonly<Record<string, string>> = {
  c: 'c h cc cpp hpp cxx',
  bash: 'sh bash zsh',
  css: 'css scss less',
  go: 'go',
  html: 'html htm vue svelte',
  ini: 'ini cfg conf properties',
  java: 'java kt scala cs',
  js: 'js mjs cjs jsx',
  json: 'json jsonc',
  lua: 'lua',
  make: 'mk',
  md: 'md markdown',
  pl: 'pl pm',
  py: 'py pyi',
  rs: 'rs',
  sql: 'sql',
  toml: 'toml',
  ts: 'ts mts cts tsx',
  xml: 'xml svg',
  yaml: 'yaml yml',
}

function languageOf(path: string): string | null {
  const ending = /\.([a-z]+)$/.exec(path.toLowerCase())?.[1] ?? ''
  return Object.keys(LANGUAGES).find((name) => LANGUAGES[name]?.split(' ').includes(ending) === true) ?? null
}

/**
 * Colours by grammar, made in another thread. A file that takes too long has none: its thread is ended.
 *
 * @param onReady - The colours of one more file are known.
 */
export function openSyntax(script: URL, onReady: () => void): Syntax {
  const known = new WeakMap<Uint8Array, ReadonlyMap<number, readonly Token[]>>()
  const queue: { readonly bytes: Uint8Array; readonly question: SyntaxQuestion }[] = []
  let worker: Worker | null = null
  let timer: NodeJS.Timeout | null = null
  let count = 0
  const done = () => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    queue.shift()
    ask()
  }
  const drop = () => {
    void worker?.terminate()
    worker = null
    done()
  }
  const ask = () => {
    const [next] = queue
    if (next === undefined) return
    worker ??= startWorker(script, { onAnswer: (answer) => take(answer), onFault: drop })
    timer = setTimeout(drop, MOST_MS).unref()
    worker.postMessage(next.question)
  }
  const take = ({ id, tokens }: SyntaxAnswer) => {
    const [asked] = queue
    if (asked?.question.id !== id) return
    known.set(asked.bytes, byLine(tokens))
    done()
    onReady()
  }
  return {
    paintsOf: (bytes, path, line, isChanged) => {
      const lines = known.get(bytes)
      if (lines !== undefined) return (lines.get(line) ?? []).map((token) => paintOf(token, isChanged))
      known.set(bytes, new Map())
      const language = bytes.length > MOST_BYTES ? null : languageOf(path)
      const text = language === null ? null : textOf(bytes)
      if (language === null || text === null) return []
      queue.push({ bytes, question: { id: ++count, text, language } })
      if (queue.length === 1) ask()
      return []
    },
    close: () => {
      queue.length = 0
      if (timer !== null) clearTimeout(timer)
      void worker?.terminate()
      worker = null
    },
  }
}

interface Token {
  readonly from: number
  readonly to: number
  readonly kind: number
}

function startWorker(
  script: URL,
  on: { readonly onAnswer: (answer: SyntaxAnswer) => void; readonly onFault: () => void },
): Worker {
  const worker = new Worker(script, { stdin: false })
  worker.unref()
  worker.on('message', on.onAnswer)
  worker.on('error', on.onFault)
  return worker
}

function byLine(tokens: Int32Array): ReadonlyMap<number, readonly Token[]> {
  const lines = new Map<number, Token[]>()
  for (let i = 0; i + 3 < tokens.length; i += 4) {
    const line = (tokens[i] ?? 0) + 1
    const own = lines.get(line) ?? []
    own.push({ from: tokens[i + 1] ?? 0, to: tokens[i + 2] ?? 0, kind: tokens[i + 3] ?? 0 })
    lines.set(line, own)
  }
  return lines
}

const paintOf = ({ from, to, kind }: Token, isChanged: boolean): Paint => ({
  from,
  to,
  style: (isChanged ? CHANGED : CONTEXT)[kind] ?? '',
})

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
