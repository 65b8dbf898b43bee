import { test } from 'vitest'
import { expectBudget } from './process-budget.ts'

test('each verb starts as many processes as its budget says', () => expectBudget(1000))
