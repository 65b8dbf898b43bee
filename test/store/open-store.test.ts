import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openRepository } from '../../src/git/open-repository.ts'
import { openStore } from '../../src/store/open-store.ts'
import { refusal } from '../helpers/galley.ts'
import { makeRepo } from '../helpers/repo.ts'

describe('making the store', () => {
  test('leaves no half of one where it fails', async () => {
    using repo = makeRepo({ files: { 'a.txt': 'a\n' } })
    // A git that fails at the end of what it did, as on a full device.
    const programs = join(repo.home, 'programs')
    mkdirSync(programs)
    writeFileSync(
      join(programs, 'git'),
      `#!/bin/sh\nPATH='${repo.env['PATH']}' git "$@" || exit\ncase " $* " in *' init '*) exit 1;; esac\n`,
    )
    chmodSync(join(programs, 'git'), 0o755)
    const env = { ...repo.env, PATH: `${programs}:${repo.env['PATH']}` }
    const repository = await openRepository(repo.dir, env)
    expect((await refusal(() => openStore(repository))).code).toBe('io-error')
    expect(readdirSync(join(repo.dir, '.git/galley'))).toEqual([])
  })
})
