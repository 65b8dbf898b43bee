import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestRepo } from './repo.ts'

/** On a machine without OpenSSH a program stands in that answers as it does: the flow is tested, the signatures are not. */
const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined
const fakeKeygen = join(import.meta.dirname, 'fake-keygen.mjs')
const keygen = hasKeygen ? 'ssh-keygen' : fakeKeygen

export interface TestKey {
  readonly file: string
  /** Type and key, as a line of the list of allowed signers ends. */
  readonly publicText: string
}

/** Makes a key without a passphrase beside the repository. */
export function makeKey(repo: TestRepo, name: string): TestKey {
  const file = join(repo.home, name)
  if (hasKeygen) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file])
  else {
    writeFileSync(file, `${name}-key\n`)
    writeFileSync(`${file}.pub`, `ssh-fake ${name}-key ${name}\n`)
  }
  return { file, publicText: readFileSync(`${file}.pub`, 'utf8').split(' ').slice(0, 2).join(' ').trim() }
}

/** Says in the user's own configuration who they are and which key they sign with. */
export function signAs(repo: TestRepo, who: { readonly name: string; readonly key: TestKey }): void {
  const program = hasKeygen ? '' : `[gpg "ssh"]\n\tprogram = ${fakeKeygen}\n`
  const { name, key } = who
  const text = `[user]\n\tname = ${name}\n\temail = ${name.toLowerCase()}@example.org\n\tsigningKey = ${key.file}\n${program}`
  appendFileSync(join(repo.home, 'gitconfig'), text)
}

/** Signs a text by hand, as nobody's approval: for forgeries. */
export function signText(repo: TestRepo, key: TestKey, text: string, namespace = 'git'): string {
  const file = join(repo.home, `text-${namespace}-${process.hrtime.bigint()}`)
  writeFileSync(file, text)
  execFileSync(keygen, ['-Y', 'sign', '-n', namespace, '-f', key.file, file], { stdio: 'ignore' })
  return readFileSync(`${file}.sig`, 'utf8')
}
