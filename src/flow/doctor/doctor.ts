import { openObjectReader } from '../../git/objects.ts'
import { gitVersion } from '../../git/version.ts'
import { asSystemRefusal } from '../../model/errno.ts'
import { GalleyError } from '../../model/error.ts'
import { hintFor } from '../../model/error-codes.ts'
import { type Finding, good, note, problem } from '../../model/finding.ts'
import { nameAndEmail } from '../../model/person.ts'
import { readHookManifest } from '../../store/hook-manifest.ts'
import { findStore, galleyDirectory } from '../../store/open-store.ts'
import type { Shims } from '../hooks/hook-shims.ts'
import { hooksStatus, installHooks } from '../hooks/hooks.ts'
import { POLICY_PATH, readPolicyFile } from '../read-policy.ts'
import { finishInterrupted } from '../recover.ts'
import type { World } from '../world.ts'
import { examineLandings } from './doctor-landing.ts'
import { examineRepository } from './doctor-repository.ts'
import { examineStore, examineTrees } from './doctor-store.ts'

export interface Examined {
  /** Whether no finding is a problem. */
  readonly healthy: boolean
  readonly findings: readonly Finding[]
  /** What was put right, each as a sentence. */
  readonly repaired: readonly string[]
}

export interface DoctorRequest {
  readonly shims: Shims
  /** Finishes or rolls back landings that were cut off, and puts hooks in place again that were displaced. */
  readonly fix: boolean
}

/**
 * Looks at everything that a landing needs and says what it found, why it matters and what puts it right. Without `fix` it changes nothing.
 * What cannot be looked at is a problem that it names, with the code.
 *
 * @throws GalleyError with the codes of `recover` and of installing hooks, with `fix`.
 */
export async function examine(world: World, request: DoctorRequest): Promise<Examined> {
  const repaired = request.fix ? await repair(world, request.shims) : []
  const findings = [
    ...(await lookedAt('git', () => examineGit(world))),
    ...(await lookedAt('repository', () => examineRepository(world))),
    ...(await lookedAt('identity', async () => [await examineIdentity(world)])),
    ...(await lookedAt('policy', async () => [await policyFinding(world)])),
    ...(await lookedAt('landing', () => examineLandings(world))),
    ...(await lookedAt('store', () => examineStore(world))),
    ...(await lookedAt('trees', () => examineTrees(world))),
    ...(await lookedAt('hooks', () => examineHooks(world, request.shims))),
  ]
  return { healthy: findings.every((finding) => finding.state !== 'problem'), findings, repaired }
}

/** What keeps an examination from being made is what it found: a refusal, git's or the system's. A fault of galley's own is none. */
async function lookedAt(
  about: Finding['about'],
  examiner: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examiner()
  } catch (error) {
    const refusal = asSystemRefusal(error, 'it could not be looked at')
    if (!(refusal instanceof GalleyError)) throw error
    const said = typeof refusal.data['stderr'] === 'string' ? `: ${refusal.data['stderr']}` : ''
    return [
      problem(about, `${refusal.message} (${refusal.code})${said}`, refusal.hint ?? hintFor(refusal.code)),
    ]
  }
}

async function examineGit({ repository }: World): Promise<readonly Finding[]> {
  return [good('git', `git ${await gitVersion(repository.door)}, objects are ${repository.objectFormat}`)]
}

async function repair(world: World, shims: Shims): Promise<readonly string[]> {
  const recovered = await finishInterrupted(world)
  const landings = [
    ...(recovered?.landings ?? []).map(
      ({ label, ref, outcome }) => `the landing of ${label} on ${ref} was ${outcome}`,
    ),
    ...(recovered?.recorded ?? []).flatMap(({ id, ref, failure }) =>
      failure === null ? [`that ${id} has landed on ${ref} is in its log now`] : [],
    ),
  ]
  const noted = await readHookManifest(galleyDirectory(world.repository))
  if (noted.length === 0) return landings
  const { hooks } = await hooksStatus(world, shims)
  const broken = hooks.filter(isBroken)
  if (broken.length === 0) return landings
  const has = (name: string) => noted.some((entry) => entry.kind !== 'config' && entry.name === name)
  await installHooks(world, {
    shims,
    referenceTransaction: has('reference-transaction'),
    update: has('update'),
    config: noted.some((entry) => entry.kind === 'config'),
  })
  return [...landings, ...broken.map(({ name }) => `the hook ${name} was put in place again`)]
}

const isBroken = ({ state }: { readonly state: string }): boolean => state !== 'installed' && state !== 'told'

async function examineIdentity(world: World): Promise<Finding> {
  return world.identity().then(
    (person) => good('identity', `you approve and land as ${nameAndEmail(person)}`),
    (error: unknown) => {
      if (!(error instanceof GalleyError)) throw error
      const advice = 'Set user.name and user.email with `git config`.'
      return problem('identity', `${error.message} (${error.code})`, advice)
    },
  )
}

/** Where nothing was ever proposed there is no store, and none is made: the user's own repository is read. */
async function policyFinding(world: World): Promise<Finding> {
  if ((await findStore(world.repository)) !== null) return examinePolicy(world)
  const reader = openObjectReader(world.repository.door)
  try {
    return await examinePolicy({ ...world, reader: () => Promise.resolve(reader) })
  } finally {
    await reader.close()
  }
}

/** The policy of the branch's tip. Where it cannot be read, nothing is approved by it. */
async function examinePolicy(world: World): Promise<Finding> {
  const { tip } = await world.head()
  const { exists, broken } = await readPolicyFile(
    world,
    tip === null ? null : await (await world.reader()).commitTree(tip),
  )
  if (broken !== null) {
    const advice = 'Mend it by galley itself (`galley policy check` names its faults), and approve that.'
    return problem('policy', `${broken.message} (${broken.code}): each change needs a person`, advice)
  }
  return exists
    ? good('policy', `${POLICY_PATH} of the tip is in force`)
    : good('policy', `there is no ${POLICY_PATH}: a person approves every change`)
}

async function examineHooks(world: World, shims: Shims): Promise<readonly Finding[]> {
  const noted = await readHookManifest(galleyDirectory(world.repository))
  const { hooks, place } = await hooksStatus(world, shims)
  if (noted.length === 0 && hooks.every(({ state }) => state !== 'installed')) {
    const text = "none of galley's are installed: an agent's own `git commit` is not looked at"
    return [note('hooks', text, 'Run `galley hooks install`.')]
  }
  const broken = hooks.filter(isBroken)
  if (broken.length === 0) return [good('hooks', `git runs ours, from ${place.directory}`)]
  const text = broken.map(({ name, text: why }) => `${name}: ${why.split('\n')[0]}`).join('; ')
  return [problem('hooks', text, 'Run `galley doctor --fix`, or `galley hooks install`.')]
}
