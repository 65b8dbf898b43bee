import { listedFiles } from '../../git/listed-files.ts'
import type { World } from '../world.ts'
import { drawTree } from './draw-tree.ts'

/** The files of the work tree, drawn for Agent Zero's prompt: those that git tracks or would track. One process. */
export async function hostTree({ repository }: World): Promise<string> {
  const root = repository.workTree ?? repository.gitDir
  return drawTree(root, await listedFiles(repository.door))
}
