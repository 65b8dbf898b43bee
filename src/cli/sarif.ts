import { meaningOf } from '../model/error-codes.ts'
import { type CommitVerdict, isFailure, type Verification } from '../model/verdict.ts'
import { version } from '../model/version.ts'
import { visible } from '../review/visible.ts'

/**
 * What a verification found wrong, as SARIF 2.1.0: one result for each path of each failing commit, so that a forge can show it
 * beside the file.
 *
 * @see https://docs.oasis-open.org/sarif/sarif/v2.1.0/
 */
export function sarifOf(found: Verification): Readonly<Record<string, unknown>> {
  const failures = found.commits.filter((commit) => isFailure(commit.verdict))
  const rules = (['unapproved', 'forged'] as const).map((id) => ({
    id,
    shortDescription: { text: meaningOf(id) },
    defaultConfiguration: { level: 'error' },
  }))
  const driver = { name: 'galley', semanticVersion: version, rules }
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver }, results: failures.flatMap(resultsOf) }],
  }
}

function resultsOf(found: CommitVerdict): readonly Readonly<Record<string, unknown>>[] {
  const why = found.reason === '' ? 'no approval covers it' : found.reason
  const text = visible(`${found.verdict} commit ${found.commit.slice(0, 12)} (${found.title}): ${why}`)
  const result = {
    ruleId: found.verdict,
    level: 'error',
    message: { text },
    partialFingerprints: { commit: found.commit },
  }
  if (found.paths.length === 0) return [result]
  return found.paths.map((path) => {
    const artifactLocation = { uri: path.split('/').map(encodeURIComponent).join('/') }
    return { ...result, locations: [{ physicalLocation: { artifactLocation, region: { startLine: 1 } } }] }
  })
}
