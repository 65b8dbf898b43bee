import { checkPolicyFile } from '../../flow/check-policy.ts'
import { usageError } from '../errors.ts'
import type { Verb } from '../verb.ts'

export const policy: Verb = {
  usage: 'policy <check> [options]',
  summary:
    'Check the policy file (.galley.json) of the work tree, or of HEAD, and list every fault with its line.',
  examples: [
    ['galley policy check', 'the file as it stands in the work tree'],
    ['galley policy check --head', 'the one in force'],
  ],
  options: (yargs) =>
    yargs.option('head', { type: 'boolean', default: false, describe: "Look at HEAD's, which is in force" }),
  run: async (context, args) => {
    const [word] = args['_'] as readonly string[]
    if (word !== 'check') throw usageError('the one thing to do with a policy is `galley policy check`')
    const found = await checkPolicyFile(await context.world(), args['head'] === true)
    return {
      value: { ...found },
      text: found.exists ? '.galley.json is good.\n' : 'There is no .galley.json; the defaults hold.\n',
    }
  },
}
