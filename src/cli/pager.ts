import { spawn } from 'node:child_process'

/** Shows long text as git does: through `GIT_PAGER` or `PAGER`, `less` by default, with git's own `LESS` settings. */
export function page(text: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const pager = env['GIT_PAGER'] ?? env['PAGER'] ?? 'less'
  if (pager === '' || pager === 'cat') {
    process.stdout.write(text)
    return Promise.resolve()
  }
  return new Promise((resolve, reject) => {
    const child = spawn(pager, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', LV: '-c', ...env },
    })
    // Quitting the pager early closes the pipe; that is how one stops reading.
    child.stdin.on('error', () => undefined)
    child.on('error', reject)
    child.on('close', () => resolve())
    child.stdin.end(text)
  })
}
