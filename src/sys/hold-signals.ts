/** Signals by which a terminal or a supervisor asks a process to end. */
const ASKING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a short task without being ended in the middle by a polite signal: one that comes is obeyed right
 * afterwards. (A kill cannot be held; what it leaves is recovered.) Handlers that the program has besides are
 * called as ever.
 *
 * @param task - May call `letGo` when the part of it is over that must not be cut off.
 */
export async function holdingSignals<T>(task: (letGo: () => void) => Promise<T>): Promise<T> {
  const letGo = holdSignals()
  try {
    return await task(letGo)
  } finally {
    letGo()
  }
}

/** @returns Ends it, and obeys a signal that came; may be called again. */
function holdSignals(): () => void {
  let asked: NodeJS.Signals | null = null
  const remember = (signal: NodeJS.Signals) => {
    asked ??= signal
  }
  for (const signal of ASKING) process.on(signal, remember)
  return () => {
    for (const signal of ASKING) process.off(signal, remember)
    const obeyed = asked
    asked = null
    if (obeyed !== null && process.listenerCount(obeyed) === 0) process.kill(process.pid, obeyed)
  }
}
