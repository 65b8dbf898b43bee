import { describe, test } from 'vitest'
import { makeRepo } from '../helpers/repo.ts'
import { BASE, holdRow, rows } from './state-rows.ts'

describe('what the user has, and what landing does with it', () => {
  test.concurrent.each(rows)('$name', async (row) => {
    await using repo = makeRepo({ files: BASE })
    await holdRow(repo, row)
  })
})
