import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FileMode, type Manifest, manifestOf } from '../../src/model/manifest.ts'
import {
  type ApprovedManifest,
  type Chain,
  composeTransitions,
  outsidePaths,
} from '../../src/policy/transition-chain.ts'

/** `a: 1>2` is the step of the path a from the content 1 to 2; 0 is no file. */
function manifest(...steps: readonly string[]): Manifest {
  return manifestOf(
    steps.map((step) => {
      const [path = '', from = '', to = ''] = step.split(/: |>/)
      const mode = (name: string): FileMode => (name === '0' ? '000000' : '100644')
      const blob = (name: string) => name.padStart(40, '0')
      return { path, oldMode: mode(from), oldBlob: blob(from), newMode: mode(to), newBlob: blob(to) }
    }),
  )
}

const approved = (key: string, ...steps: readonly string[]): ApprovedManifest => ({
  key,
  manifest: manifest(...steps),
})

const side = (name: string) => `${name === '0' ? '000000' : '100644'} ${name.padStart(40, '0')}`

const keysOf = (chain: Chain): readonly string[] | string =>
  chain.kind === 'composed' ? chain.used.map((one) => one.key) : chain.kind

describe('transitions put together', () => {
  test('one whole manifest covers itself', () => {
    const chain = composeTransitions(manifest('a: 1>2', 'b: 0>1'), [approved('x', 'a: 1>2', 'b: 0>1')])
    expect(keysOf(chain)).toEqual(['x'])
  })

  test('a part of a manifest covers nothing', () => {
    expect(composeTransitions(manifest('a: 1>2'), [approved('x', 'a: 1>2', 'b: 0>1')])).toEqual({
      kind: 'uncovered',
      paths: ['a'],
    })
  })

  test('a squash of approved manifests is covered, in the order in which they fit', () => {
    const pool = [
      approved('third', 'a: 3>4'),
      approved('second', 'a: 2>3', 'b: 0>1'),
      approved('first', 'a: 1>2'),
    ]
    expect(keysOf(composeTransitions(manifest('a: 1>4', 'b: 0>1'), pool))).toEqual([
      'first',
      'second',
      'third',
    ])
  })

  test('a manifest that waits for another one gets it', () => {
    const pool = [approved('needs-q', 'a: 1>2', 'q: 2>3'), approved('moves-q', 'q: 1>2', 'z: 0>1')]
    const target = manifest('a: 1>2', 'q: 1>3', 'z: 0>1')
    expect(keysOf(composeTransitions(target, pool))).toEqual(['moves-q', 'needs-q'])
  })

  test('an approved change that leads elsewhere is not taken for it', () => {
    const pool = [
      approved('other', 'a: 1>9'),
      approved('whole', 'a: 1>2', 'b: 1>2'),
      approved('mine', 'a: 1>2'),
    ]
    expect(keysOf(composeTransitions(manifest('a: 1>2'), pool))).toEqual(['mine'])
  })

  test('one key is used once, though two manifests have it', () => {
    const pool = [approved('x', 'a: 1>2'), approved('x', 'a: 2>3')]
    expect(keysOf(composeTransitions(manifest('a: 1>3'), pool))).toBe('uncovered')
  })

  test('only the paths that cannot come about are named', () => {
    const chain = composeTransitions(manifest('a: 1>2', 'b: 1>2', 'c: 0>1'), [approved('x', 'b: 1>2')])
    expect(chain).toEqual({ kind: 'uncovered', paths: ['a', 'c'] })
  })

  test('a path that is changed and changed back needs its side known', () => {
    const pool = [approved('there', 'a: 1>2', 'p: 1>2'), approved('back', 'b: 1>2', 'p: 2>1')]
    const target = manifest('a: 1>2', 'b: 1>2')
    expect(outsidePaths(target, pool, 100)).toEqual(['p'])
    expect(keysOf(composeTransitions(target, pool))).toBe('uncovered')
    expect(keysOf(composeTransitions(target, pool, new Map([['p', side('1')]])))).toEqual(['there', 'back'])
    expect(keysOf(composeTransitions(target, pool, new Map([['p', side('7')]])))).toBe('uncovered')
  })

  test('another mode is another side', () => {
    const [t] = manifest('a: 1>2')
    const executable = t === undefined ? [] : [{ ...t, newMode: '100755' as const }]
    expect(keysOf(composeTransitions(executable, [approved('x', 'a: 1>2')]))).toBe('uncovered')
  })

  test('a thousand manifests are put together without a wrong turn', () => {
    const pool = Array.from({ length: 1000 }, (_, i) =>
      approved(`g${i}`, `f${i % 40}: ${i < 40 ? 0 : i - 40 + 1}>${i + 1}`),
    )
    const target = manifest(...Array.from({ length: 40 }, (_, i) => `f${i}: 0>${960 + i + 1}`))
    const chain = composeTransitions(target, [...pool].reverse())
    expect(chain.kind === 'composed' && chain.used.length).toBe(1000)
  })

  test('a maze of manifests that lead nowhere ends', () => {
    // Every path can come about by itself, and no whole set fits: 2^40 ways if each were tried.
    const pool = Array.from({ length: 40 }, (_, i) => [
      approved(`l${i}`, `f${i}: 1>2`, 'z: 1>2'),
      approved(`r${i}`, `f${i}: 1>2`, 'z: 2>1'),
    ]).flat()
    const target = manifest(...Array.from({ length: 40 }, (_, i) => `f${i}: 1>2`), 'z: 1>3')
    const more = [...pool, approved('end', 'z: 2>3', 'f0: 2>9')]
    expect(composeTransitions(target, more).kind).not.toBe('composed')
  })
})

const step = fc.record({
  path: fc.constantFrom('a', 'b', 'c'),
  to: fc.integer({ min: 0, max: 4 }).map(String),
})
const steps = fc.array(fc.uniqueArray(step, { minLength: 1, maxLength: 3, selector: (s) => s.path }), {
  maxLength: 6,
})

/** Walks from all ones: the manifests on the way, and what all of it comes down to. */
function walk(way: readonly (readonly { readonly path: string; readonly to: string }[])[]) {
  const now = new Map([...'abc'].map((path) => [path, '1']))
  const used = way.map((moves, i) => {
    const moved = moves.filter((move) => move.to !== now.get(move.path))
    const one = approved(`g${i}`, ...moved.map(({ path, to }) => `${path}: ${now.get(path)}>${to}`))
    for (const { path, to } of moved) now.set(path, to)
    return one
  })
  const target = [...now].filter(([, to]) => to !== '1').map(([path, to]) => `${path}: 1>${to}`)
  return { used, target: manifest(...target) }
}

describe('for any walk', () => {
  const outside = new Map([...'abc'].map((path) => [path, side('1')]))

  test('what is said to compose does compose: whole, once each, from start to end', () => {
    fc.assert(
      fc.property(steps, steps, fc.boolean(), (way, noise, isShuffled) => {
        const { target } = walk(way)
        const pool = [...walk(noise).used, ...walk(way).used.map((one) => ({ ...one, key: `w${one.key}` }))]
        const chain = composeTransitions(target, isShuffled ? [...pool].reverse() : pool, outside)
        if (chain.kind !== 'composed') return
        const now = new Map(outside)
        for (const { manifest: used } of chain.used) {
          for (const t of used) {
            expect(now.get(t.path)).toBe(`${t.oldMode} ${t.oldBlob}`)
            now.set(t.path, `${t.newMode} ${t.newBlob}`)
          }
        }
        const wanted = new Map(outside)
        for (const t of target) wanted.set(t.path, `${t.newMode} ${t.newBlob}`)
        expect(now).toEqual(wanted)
        expect(new Set(chain.used.map((one) => one.key)).size).toBe(chain.used.length)
      }),
      { numRuns: 3000 },
    )
  })

  test('the squash of a walk whose steps do not turn back is found', () => {
    const forward = steps.map((way) =>
      way.map((moves, i) => moves.map(({ path }) => ({ path, to: String(i + 2) }))),
    )
    fc.assert(
      fc.property(forward, steps, (way, noise) => {
        const { target, used } = walk(way)
        const others = walk(noise).used.map((one) => ({ ...one, key: `n${one.key}` }))
        expect(composeTransitions(target, [...others, ...used].reverse(), outside).kind).toBe('composed')
      }),
      { numRuns: 3000 },
    )
  })
})
