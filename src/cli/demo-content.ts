/** The demo's repository: a few files in several languages, one with CRLF line endings. */
export const demoFiles: Readonly<Record<string, string>> = {
  'src/price.ts': [
    'export function total(prices: number[]): number {',
    '  let sum = 0',
    '  for (const price of prices) sum += price',
    '  return sum',
    '}',
    '',
  ].join('\n'),
  'tools/report.py': [
    'def report(total):',
    '    print("total", total)',
    '',
    '',
    'if __name__ == "__main__":',
    '    report(0)',
    '',
  ].join('\n'),
  'docs/windows.txt': 'Run the report\r\nwith Python 2\r\n',
  'run.sh': '#!/bin/sh\nexec python3 tools/report.py\n',
  'old/unused.js': 'module.exports = {}\n',
  'notes.txt': '- ship it\n',
}

/** The demo's batch: nine edits in seven files, as an agent would send them. */
export const demoBatch = {
  version: 1,
  title: 'Round totals to cents',
  body: 'Sums of floating-point prices showed as 0.30000000000000004.',
  agent: { name: 'demo-agent' },
  edits: [
    { op: 'replace', path: 'src/price.ts', old: '  return sum\n', new: '  return roundToCents(sum)\n' },
    {
      op: 'append',
      path: 'src/price.ts',
      content: '\nconst roundToCents = (amount: number): number => Math.round(amount * 100) / 100\n',
    },
    {
      op: 'replace',
      path: 'tools/report.py',
      old: 'print("total", total)',
      new: 'print(f"total {total:.2f}")',
    },
    { op: 'replace', path: 'docs/windows.txt', old: 'Python 2', new: 'Python 3' },
    {
      op: 'write',
      path: 'test/price.test.ts',
      mode: 'create',
      content:
        "import { total } from '../src/price.ts'\n\nif (total([0.1, 0.2]) !== 0.3) throw new Error('rounding')\n",
    },
    { op: 'replace', path: 'run.sh', old: 'tools/report.py', new: 'tools/print_report.py' },
    { op: 'chmod', path: 'run.sh', executable: true },
    { op: 'move', path: 'tools/report.py', to: 'tools/print_report.py' },
    { op: 'delete', path: 'old/unused.js' },
  ],
} as const
