import { describe, test } from 'vitest'
import { asItStands, changes, thereAndBack } from './link-world.ts'

describe('links and submodules are transitions like others', () => {
  test.each(changes)('%s is captured, landed, undone and redone', (_, act, stays) => thereAndBack(act, stays))
  test.each(changes)('%s is captured as it stands, and landing leaves it so', (_, act) => asItStands(act))
})
