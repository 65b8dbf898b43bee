/** Signals by which a terminal or a supervisor asks a process to end. */
const ASKING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a short task without being ended in the middle by a polite signal: one that comes is obeyed right
 * afterwards. (A kill cannot be held; what it leaves is recovered.) Handlers that the program has besides are
 * called as ever.
 */
export async function holdingSignals<T>(task: () => Promise<T>): Promise<T> {
  let asked: NodeJS.Signals | null = null
  const remember = (signal: NodeJS.Signals) => {
    asked ??= signal
  }
  for (const signal of ASKING) process.on(signal, remember)
  try {
    return await task()
  } finally {
    for (const signal of ASKING) process.off(signal, remember)
    if (asked !== null && process.listenerCount(asked) === 0) process.kill(process.pid, asked)
  }
}
