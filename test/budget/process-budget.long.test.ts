import { test } from 'vitest'
import { expectBudget } from './process-budget.ts'

test(
  'with 100,000 files each verb starts as many processes as with 1,000',
  () => expectBudget(100_000),
  600_000,
)
