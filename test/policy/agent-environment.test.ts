import { describe, expect, test } from 'vitest'
import { agentAtWork } from '../../src/policy/agent-environment.ts'

describe('an agent is seen at work', () => {
  test.each([
    ['GALLEY_AGENT', '1'],
    ['AI_AGENT', 'some-agent@2'],
    ['AGENT', 'amp'],
    ['CLAUDECODE', '1'],
    ['CLAUDE_CODE_ENTRYPOINT', 'cli'],
    ['CODEX_SANDBOX', 'seatbelt'],
    ['CODEX_SANDBOX_NETWORK_DISABLED', '1'],
    ['CODEX_THREAD_ID', '019d'],
    ['CURSOR_AGENT', '1'],
    ['GEMINI_CLI', '1'],
    ['QWEN_CODE', '1'],
    ['OPENCODE', '1'],
    ['GOOSE_TERMINAL', '1'],
    ['AUGMENT_AGENT', '1'],
    ['COPILOT_CLI', '1'],
    ['CLINE_ACTIVE', 'true'],
    ['ROO_ACTIVE', 'true'],
  ])('by %s=%s, which is named', (name, value) => {
    expect(agentAtWork({ PATH: '/bin', [name]: value })).toBe(name)
  })

  test('by the first of several', () => {
    expect(agentAtWork({ CLAUDECODE: '1', GALLEY_AGENT: 'x' })).toBe('GALLEY_AGENT')
  })
})

describe('no agent is seen at work', () => {
  test.each([
    [{}],
    [{ CLAUDECODE: '' }],
    [{ CLAUDECODE: '0' }],
    [{ AGENT: 'false' }],
    [{ AGENT: ' FALSE ' }],
    [{ CURSOR_AGENT: undefined }],
    [
      {
        CODEX_HOME: '/home/ann/.codex',
        AIDER_MODEL: 'x',
        GOOSE_PROVIDER: 'y',
        CURSOR_TRACE_ID: 'z',
        CI: 'true',
      },
    ],
    [Object.create({ CLAUDECODE: '1' })],
  ])('in %j', (env) => {
    expect(agentAtWork(env)).toBeNull()
  })
})
