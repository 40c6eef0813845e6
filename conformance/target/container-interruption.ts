/**
 * Clears up before an interrupted process ends. What a killed one leaves, the next target removes.
 */

const signals = ["SIGINT", "SIGTERM"] as const;
const pending = new Set<() => Promise<void>>();

/**
 * Calls `clear` when the process is interrupted, then lets it end as it would have. Gives a
 * function that takes it back.
 */
export function onInterruption(clear: () => Promise<void>): () => void {
  if (pending.size === 0) for (const name of signals) process.on(name, onSignal);
  pending.add(clear);
  return () => {
    pending.delete(clear);
    if (pending.size === 0) stopListening();
  };
}

function onSignal(name: NodeJS.Signals): void {
  stopListening();
  const cleared = Promise.allSettled([...pending].map((clear) => clear()));
  pending.clear();
  void cleared.then(() => process.kill(process.pid, name));
}

function stopListening(): void {
  for (const name of signals) process.off(name, onSignal);
}
