#!/usr/bin/env node
/**
 * Stands in for `ssh-keygen` on a machine without OpenSSH: the same calls, answers and exit codes for `-Y sign`, `verify`,
 * `check-novalidate` and `find-principals`, with a digest in place of a signature. A key is a file; `<key>.pub` its public form.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'

const args = process.argv.slice(2)
const option = (name) => {
  const at = args.indexOf(name)
  return at === -1 ? null : args[at + 1]
}
const action = option('-Y')
const digest = (text) => createHash('sha256').update(text).digest('base64')
const fail = (text) => {
  console.error(text)
  console.log('Could not verify signature.')
  process.exit(255)
}

if (action === 'sign') {
  const file = args.at(-1)
  const key = readFileSync(option('-f').replace(/\.pub$/, ''), 'utf8').trim()
  const value = { key, namespace: option('-n'), digest: digest(readFileSync(file)) }
  const text = Buffer.from(JSON.stringify(value))
    .toString('base64')
    .replace(/.{70}/g, (line) => `${line}\n`)
  writeFileSync(
    `${file}.sig`,
    `-----BEGIN SSH SIGNATURE-----\n${text.trimEnd()}\n-----END SSH SIGNATURE-----\n`,
  )
  process.exit(0)
}

const block = readFileSync(option('-s'), 'utf8').split('\n').slice(1, -2).join('')
const signature = JSON.parse(Buffer.from(block, 'base64').toString('utf8'))
const fingerprint = `SHA256:${digest(signature.key).replace(/=+$/, '')}`
const time = args.find((one) => one.startsWith('-Overify-time='))?.slice('-Overify-time='.length)

function lines() {
  const rows = readFileSync(option('-f'), 'utf8').split('\n')
  return rows.flatMap((row, index) => {
    const [principals, ...rest] = row.trim().split(' ')
    if (rest.at(-1) !== signature.key) return []
    const before = /valid-before="?(\d{8})"?/.exec(rest[0] ?? '')?.[1]
    if (before !== undefined && time !== undefined && time.slice(0, 8) >= before) {
      console.error(
        `${option('-f')}:${index + 1}: key has expired: verify time ${time} > valid-before ${before}`,
      )
      return []
    }
    return [principals]
  })
}

if (action === 'find-principals') {
  const found = lines()
  if (found.length === 0) fail('No principal matched.')
  console.log(found.join('\n'))
} else {
  const payload = readFileSync(0)
  if (signature.namespace !== option('-n')) fail("Couldn't verify signature: namespace does not match")
  if (signature.digest !== digest(payload)) fail('Signature verification failed: incorrect signature')
  const who = option('-I')
  if (action === 'verify') {
    const isAllowed = lines().some((list) => list.split(',').some((one) => one === who || one === '*'))
    if (!isAllowed) fail('')
    const revoked = option('-r')
    if (revoked !== null && readFileSync(revoked, 'utf8').includes(signature.key)) fail('Key is revoked')
  }
  console.log(`Good "git" signature${who === null ? '' : ` for ${who}`} with ED25519 key ${fingerprint}`)
}
