import type { Tool as ToolListing } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Refusal } from '../model/error.ts'
import type { Tool } from './tool.ts'

/** Fields that the value of every tool has. */
const EVERY_VALUE = {
  ok: { type: 'boolean', description: 'false = refused; "error" says why.' },
  message: { type: 'string', description: 'What happened.' },
  next: { type: 'string', description: 'What to do next.' },
  error: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      data: { type: 'object' },
      hint: { type: 'string' },
    },
    required: ['code', 'message', 'data', 'hint'],
  },
} as const

/** A tool as the protocol lists it. */
export function listedTool(tool: Tool): ToolListing {
  const { $schema: _, ...input } = tool.schema ?? z.toJSONSchema(tool.input, { io: 'input' })
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: input as ToolListing['inputSchema'],
    outputSchema: {
      type: 'object',
      properties: { ...EVERY_VALUE, ...tool.output },
      required: ['ok', 'message'],
    } as ToolListing['outputSchema'],
    annotations: { title: tool.title, ...tool.annotations },
  } as ToolListing
}

const FAULTS_SHOWN = 10

/** Arguments that do not have the tool's form, each named by its JSON pointer. */
export function inputFault(name: string, error: z.ZodError): Refusal {
  const faults = error.issues.slice(0, FAULTS_SHOWN).map(({ path, message }) => ({
    pointer: `/${path.map(String).join('/')}`.slice(0, 200),
    message: message.slice(0, 400),
  }))
  const [first] = faults
  return {
    code: 'invalid-arguments',
    message: `${name}: ${first?.pointer ?? '/'}: ${first?.message ?? 'expected an object'}`,
    data: { tool: name, faults },
  }
}
