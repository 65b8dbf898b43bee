import { parentPort } from 'node:worker_threads'
import * as languages from '@speed-highlight/core/languages'
import { type ShjLanguageData, type ShjToken, tokenizeWith } from '@speed-highlight/core/tokenize'

/**
 * Finds the tokens of one file at a time, in a thread of its own: the grammars' expressions take seconds on text made for that, and
 * whoever waits for this one ends it.
 */

/** What is asked: the text of a whole file, and the name of its language. */
export interface SyntaxQuestion {
  readonly id: number
  readonly text: string
  readonly language: string
}

/** Four numbers for each token: line from 0, first and last unit in it, and its place in `tokenKinds`. */
export interface SyntaxAnswer {
  readonly id: number
  readonly tokens: Int32Array
}

export const tokenKinds: readonly ShjToken[] = [
  'kwd',
  'str',
  'cmnt',
  'num',
  'func',
  'class',
  'type',
  'bool',
  'esc',
]

// The package's declarations do not fit each other where an optional property may not be undefined.
const known = languages as unknown as Readonly<Record<string, ShjLanguageData>>

parentPort?.on('message', ({ id, text, language }: SyntaxQuestion) => {
  const answer: SyntaxAnswer = { id, tokens: tokensOf(text, language) }
  parentPort?.postMessage(answer, [answer.tokens.buffer as ArrayBuffer])
})

function tokensOf(text: string, language: string): Int32Array {
  const found: number[] = []
  const grammar = Object.hasOwn(known, language) ? known[language] : undefined
  if (grammar === undefined) return new Int32Array(0)
  let line = 0
  let column = 0
  const take = (token: string, type?: ShjToken) => {
    const kind = type === undefined ? -1 : tokenKinds.indexOf(type)
    for (const [index, part] of token.split('\n').entries()) {
      if (index > 0) {
        line++
        column = 0
      }
      if (kind !== -1 && part !== '') found.push(line, column, column + part.length, kind)
      column += part.length
    }
  }
  tokenizeWith(text, grammar, take, { languages: known })
  return Int32Array.from(found)
}
