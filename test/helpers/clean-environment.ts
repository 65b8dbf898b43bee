/**
 * Takes out of the environment what would change how git, node or galley behave: an agent at work, a repository named
 * from outside, certificates that node would read at each start (50 ms of it). Runs before each test file.
 */
import { agentAtWork } from '../../src/policy/agent-environment.ts'

const unwanted = /^(?:GIT_.*|NODE_EXTRA_CA_CERTS|NODE_OPTIONS)$/

for (const name of Object.keys(process.env)) if (unwanted.test(name)) delete process.env[name]
for (let name = agentAtWork(process.env); name !== null; name = agentAtWork(process.env))
  delete process.env[name]

// A run that CI repeats draws the same cases; without a seed every run draws others.
const seed = process.env['GALLEY_SEED']
if (seed !== undefined) {
  const fc = await import('fast-check')
  fc.configureGlobal({ seed: Number(seed) })
}
