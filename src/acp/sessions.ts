import type { LiveTree } from '../flow/live/live-tree.ts'
import { refuse } from '../model/error.ts'
import { pathMap } from './path-map.ts'
import type { Session, SessionHost } from './session.ts'

export interface SessionsOptions extends Pick<SessionHost, 'world' | 'job'> {
  /** The tree of the agent's process, which the first session gets. */
  readonly first: LiveTree
  /** Makes a tree for a directory of the repository. */
  readonly openTree: (place: string) => Promise<LiveTree>
  /** Where a directory lies in the repository. @throws GalleyError `outside-repository`. */
  readonly placeOf: (directory: string) => Promise<string>
}

/** Each has a tree. */
const SESSIONS_MAX = 16

/** The sessions of one agent, and how each side spells their places. */
export class Sessions {
  readonly #options: SessionsOptions
  #all: readonly Session[] = []
  /** Trees that no session has, in which no agent has worked. */
  readonly #free: LiveTree[]

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#free = [options.first]
  }

  /** @throws GalleyError `outside-repository`; `busy`; the codes of `run`. */
  async open(given: unknown): Promise<Session> {
    if (this.#all.length >= SESSIONS_MAX)
      refuse(
        'busy',
        `there are ${SESSIONS_MAX} sessions, each with a tree of its own`,
        { limit: SESSIONS_MAX },
        'Restart the agent in your editor: its work is kept, and its trees are given back.',
      )
    const directory = typeof given === 'string' ? given.replace(/(?<=.)[/]+$/, '') : ''
    const { openTree, placeOf, job } = this.#options
    const place = await placeOf(directory)
    const tree = this.#free.pop()?.at(place) ?? (await job(() => openTree(place)))
    const session = { tree, root: this.#rootOf(directory, place), id: null, title: '', told: null }
    this.#all = [...this.#all, session]
    return session
  }

  /** The agent would not open it, as before a login: the next one gets its tree. */
  drop(session: Session): void {
    this.#all = this.#all.filter((one) => one !== session)
    this.#free.push(session.tree)
  }

  /** The root as the editor spells it, which may go through a link. */
  #rootOf(directory: string, place: string): string {
    if (place === '') return directory
    const end = `/${place}`
    return directory.endsWith(end) ? directory.slice(0, -end.length) : this.#workTree(directory)
  }

  readonly #workTree = (otherwise: string) => this.#options.world.repository.workTree ?? otherwise

  named(id: unknown): Session | null {
    return typeof id === 'string' ? (this.#all.find((session) => session.id === id) ?? null) : null
  }

  /** For what names no session: most editors have one. */
  newest(): Session | null {
    return this.#all.at(-1) ?? null
  }

  in(tree: LiveTree): Session | null {
    return this.#all.find((session) => session.tree.path === tree.path) ?? null
  }

  /** Rewrites the editor's paths for the agent. */
  toTree({ tree, root }: Session): <T>(value: T) => T {
    const roots = new Set([root, this.#workTree(root)])
    return pathMap(
      [...roots].map((from) => ({ from, to: tree.path })),
      this.#all.map((session) => session.tree.path),
    )
  }

  /** Rewrites the agent's paths for the editor. */
  toEditor(): <T>(value: T) => T {
    return pathMap(this.#all.map(({ tree, root }) => ({ from: tree.path, to: root })))
  }
}
