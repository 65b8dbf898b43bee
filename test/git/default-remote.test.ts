import { describe, expect, test } from 'vitest'
import { defaultRemote } from '../../src/git/exchange.ts'

const config = (text: string) =>
  new Map(
    text
      .split(' ')
      .filter(Boolean)
      .map((pair) => pair.split('=') as [string, string]),
  )
const two = 'remote.origin.url=o remote.fork.url=f '

describe('the remote that git would use', () => {
  test.each([
    ['', 'main', 'fetch', 'origin'],
    [two, 'main', 'fetch', 'origin'],
    ['remote.hub.url=h', 'main', 'fetch', 'hub'],
    ['remote.a.b.url=h', 'main', 'push', 'a.b'],
    [`${two}branch.main.remote=fork`, 'main', 'fetch', 'fork'],
    [`${two}branch.main.remote=fork`, 'side', 'fetch', 'origin'],
    [`${two}branch.main.remote=fork`, null, 'push', 'origin'],
    [`${two}branch.main.remote=.`, 'main', 'fetch', 'origin'],
    [`${two}remote.pushdefault=fork`, 'main', 'fetch', 'origin'],
    [`${two}remote.pushdefault=fork`, 'main', 'push', 'fork'],
    [`${two}remote.pushdefault=fork branch.main.pushremote=origin`, 'main', 'push', 'origin'],
    [`${two}branch.main.remote=fork`, 'main', 'push', 'fork'],
  ] as const)('with %s on %s for %s is %s', (text, branch, direction, expected) => {
    expect(defaultRemote(config(text), branch, direction)).toBe(expected)
  })
})
