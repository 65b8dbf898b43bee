import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentClients, ENTRY } from '../../src/setup/clients.ts'
import { jsonText } from '../../src/setup/edit-json.ts'
import { tomlText } from '../../src/setup/edit-toml.ts'
import { byNpm } from '../../src/setup/find-clients.ts'
import { projectRoot } from '../helpers/source-tree.ts'

const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/```(json|toml)\n([\s\S]*?)```/g)].map(([, form, text = '']) => ({
  form,
  text,
}))

test.each(
  agentClients.filter(({ name }) => name !== 'cursor').map((client) => [client.name, client] as const),
)('the README has the block that setup writes for %s', (_, client) => {
  const form = client.form === 'json' ? jsonText : tomlText
  const found = blocks
    .filter((block) => block.form === client.form)
    .map(({ text }) => form.find(text, [client.key, ENTRY]))
  expect(found).toContainEqual(client.entry(byNpm))
})
