import { beforeAll, expect, inject, test } from 'vitest'
import { ONE_OF_EACH_KIND, rows, testWays } from '../helpers/bypass-ways.ts'

beforeAll(() => expect(inject('buildFailure')).toBeNull())

testWays(rows.filter(({ name }) => !ONE_OF_EACH_KIND.includes(name)))

test('the ways that are tried first are ways', () => {
  const names = rows.map(({ name }) => name)
  expect(ONE_OF_EACH_KIND.filter((name) => !names.includes(name))).toEqual([])
})
