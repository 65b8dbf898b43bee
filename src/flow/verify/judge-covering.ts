import type { ObjectReader } from '../../git/objects.ts'
import type { Revision, RevisionFile } from '../../model/change.ts'
import { limits } from '../../model/limits.ts'
import type { Manifest } from '../../model/manifest.ts'
import { approvalRefusal } from '../../policy/land-decision.ts'
import { countFiles } from '../count-files.ts'
import type { ApprovalRules, Covering } from './covering.ts'

/** An approved manifest as it is to be used. */
export interface Judged {
  readonly covering: Covering
  /** What it makes on the branch: the manifest itself, or its clean re-merge. */
  readonly made: Manifest
  /** As its log has it. */
  readonly revision: Revision | null
}

/**
 * Why the approvals of a manifest are not enough under a policy at a moment, in words; null where they are. An approval by rule counts only
 * where that policy's rule grants exactly this: lines are counted from the blobs; how each path was matched stands in the log alone.
 */
export async function judgeCovering(
  reader: ObjectReader,
  { covering, made, revision }: Judged,
  rules: ApprovalRules,
  at: string,
): Promise<string | null> {
  const { key, revision: number, commit, tree, base, digest, messageHash } = covering
  const { approvals, signedTags, setAside } = await rules.judge(covering.approvals, at)
  const byRule = covering.approvals.some(({ approval }) => approval.via === 'rule')
  const forms = byRule && made !== covering.manifest ? [covering.manifest, made] : [made]
  for (const manifest of forms) {
    const files = byRule ? await linesOf(reader, manifest, revision?.files ?? []) : []
    const remarks = revision?.remarks ?? []
    const refusal = approvalRefusal({
      id: key,
      revision: { number, commit, tree, base, digest, manifest, files, remarks, reads: [] },
      messageHash,
      approvals,
      signedTags,
      checks: covering.approvals.flatMap(({ approval }) => approval.checks),
      policy: rules.policy,
      now: at,
    })
    if (refusal === null) continue
    const [first] = setAside
    const why = first === undefined ? '' : `; that by ${first.by} does not count: ${first.reason}`
    return `${refusal.message.replace(/^land g\w+: /, () => '')}${why}`
  }
  return null
}

/** Lines that change, for the paths of which the log says how they were matched. One that is too large to count is like a binary. */
async function linesOf(
  reader: ObjectReader,
  manifest: Manifest,
  logged: readonly RevisionFile[],
): Promise<readonly RevisionFile[]> {
  const known = new Map(logged.map((file) => [file.path, file]))
  const sizes = await Promise.all(manifest.flatMap((t) => [reader.info(t.oldBlob), reader.info(t.newBlob)]))
  const isSmall = sizes.every((found) => (found?.size ?? 0) <= limits.fileMaxBytes)
  const files = isSmall
    ? await countFiles(reader, manifest, logged)
    : manifest.flatMap(({ path }) => known.get(path) ?? [])
  return files
    .filter(({ path }) => known.has(path))
    .map((file) => (isSmall ? file : { ...file, added: null, removed: null }))
}
