/**
 * Watches this process during a run: accidents, the environment, and handles that stay open.
 */

export interface ProcessWatch {
  /** Gives promises that the run left behind their turns. */
  settle(): Promise<void>;
  stop(): { readonly accidents: readonly string[]; readonly leftHandles: readonly string[] };
}

const events = ["unhandledRejection", "uncaughtException", "warning"] as const;
/** Turns of the event loop in which a floating promise of the run may still reject. */
const turns = 5;

/**
 * One at a time. `environment` is set for the run and put back. Without `isInside` the connector is
 * elsewhere, and nothing is watched.
 */
export function watchProcess(
  isInside: boolean,
  environment: Readonly<Record<string, string>>,
): ProcessWatch {
  if (!isInside)
    return { settle: async () => {}, stop: () => ({ accidents: [], leftHandles: [] }) };
  const accidents: string[] = [];
  // A test runner's own listeners would take the connector's accident for one of the test.
  const others = events.map((event) => [event, process.rawListeners(event as never)] as const);
  for (const event of events) {
    process.removeAllListeners(event);
    process.on(
      event as "warning",
      (reason: unknown) => void accidents.push(`${event}: ${oneLine(reason)}`),
    );
  }
  const before = countHandles();
  const previous = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  return {
    async settle() {
      for (let turn = 0; turn < turns; turn++)
        await new Promise((resolve) => setImmediate(resolve));
    },
    stop() {
      for (const [name, value] of previous) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
      for (const [event, listeners] of others) {
        process.removeAllListeners(event);
        for (const listener of listeners) process.on(event as never, listener as never);
      }
      return { accidents, leftHandles: grown(before, countHandles()) };
    },
  };
}

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Kinds of handles of which there are more than before, without those that end by themselves. */
function grown(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>): string[] {
  return [...after].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0);
    return more > 0 && !passing.has(kind) ? [`${more} ${kind}`] : [];
  });
}

/** Handles that end by themselves. */
const passing = new Set([
  "Immediate",
  "TickObject",
  "CloseReq",
  "TTYWrap",
  "PipeWrap",
  "FSReqPromise",
]);

function oneLine(reason: unknown): string {
  const text = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
  return text.replaceAll(/\s+/g, " ").slice(0, 300);
}
