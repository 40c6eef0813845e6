/** A provider whose rows change and whose clock goes on while a connector reads. */
import type { Lab } from "../contract/lab.ts";
import type { Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { type CursorColumn, changeRows, cursorOf, withCursor } from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { compareRows, type Difference, outputRows } from "../derive/rows/rows.ts";
import { finalState, readFrom } from "../derive/sweeps/reads.ts";

/** How long the provider makes the first read wait, so that its clock moves. */
const waitSeconds = 60;
/** The next read comes so much later. */
const laterMs = 3_600_000;

export interface Change {
  /** "changed 1 s after the read began". */
  readonly name: string;
  /** Milliseconds after the beginning of the read. */
  readonly afterMs: number;
}

/** While the read waits, at its very beginning, and before the wait. */
export const changesWhileReading: readonly Change[] = [
  { name: "changed at the moment the read begins", afterMs: 0 },
  { name: "changed 1 s after the read began", afterMs: 1_000 },
  { name: "changed 30 s after the read began", afterMs: 30_000 },
];

export interface MovingRead {
  readonly first: Observation;
  readonly next: Observation;
  readonly state: ReturnType<typeof finalState>;
  readonly difference: Difference;
}

/**
 * The first row, already read, gets a new cursor value of that time while the connector waits for
 * its next page; a second read goes on from the state of the first one. Both together, against what
 * the provider has then. Undefined when a read fails.
 */
export async function readWhileChanging(
  lab: Lab,
  column: CursorColumn,
  { afterMs }: Change,
): Promise<MovingRead | undefined> {
  const { stream } = column;
  const beganMs = lab.can("clock")
    ? Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "")
    : Date.now();
  const value = valueAt(column, beganMs + afterMs);
  const changed = (isChanged: boolean) =>
    changeRows(column, (rows, listing, requestCount) =>
      rows.map((row, at) =>
        at === 0 && listing === column.listing && (isChanged || requestCount > 0)
          ? withCursor(row, column, value)
          : row,
      ),
    );
  const settled = () => ({ provider: lab.learned.provider(changed(true)), clockShiftMs: laterMs });
  const whole = await readFrom(lab, stream, undefined, settled());
  const first = await readFrom(lab, stream, undefined, {
    provider: waiting(lab, column, lab.learned.provider(changed(false))),
  });
  if (whole.outcome.status !== "succeeded" || first.outcome.status !== "succeeded")
    return undefined;
  const state = finalState(first, stream);
  const next = await readFrom(lab, stream, state, settled());
  const rows = [...outputRows(first.messages, stream), ...outputRows(next.messages, stream)];
  return { first, next, state, difference: compareRows(outputRows(whole.messages, stream), rows) };
}

function valueAt(column: CursorColumn, ms: number): unknown {
  const newest = latest(column.listing.rows.map((row) => cursorOf(row, column)));
  const moment = momentOf(newest);
  return writeLike(newest, moment?.kind === "number" ? moment.value + 1 : ms);
}

/** The second request of the listing is put off once, where the clock is the kit's. */
function waiting(lab: Lab, { listing }: CursorColumn, provider: Provider): Provider {
  let requestCount = 0;
  return {
    answer(request) {
      const isOwn = lab.learned.listingOf(request) === listing;
      if (isOwn) requestCount++;
      if (isOwn && requestCount === 2 && lab.can("clock"))
        return {
          status: 429,
          headers: { "content-type": "application/json", "retry-after": String(waitSeconds) },
          body: Buffer.from(lab.answers?.answers["429"]?.body ?? "{}"),
        };
      return provider.answer(request);
    },
    unused: () => [],
  };
}
