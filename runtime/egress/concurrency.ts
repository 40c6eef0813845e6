import { ConnectorError } from "../contract/errors.ts";

/** At most `count` holders at a time, first come, first served. */
export interface Slots {
  /**
   * Resolves with the function that gives the slot back.
   * @throws CANCELLED when the signal aborts first.
   */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  function giveBack(): void {
    const [next] = waiting;
    if (next === undefined) free++;
    else {
      waiting.delete(next);
      next();
    }
  }

  return {
    async take(signal) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      if (free > 0) free--;
      else
        await new Promise<void>((resolve, reject) => {
          const next = () => {
            signal.removeEventListener("abort", stop);
            resolve();
          };
          const stop = () => {
            waiting.delete(next);
            reject(new ConnectorError("CANCELLED"));
          };
          waiting.add(next);
          signal.addEventListener("abort", stop, { once: true });
        });
      return giveBack;
    },
  };
}
