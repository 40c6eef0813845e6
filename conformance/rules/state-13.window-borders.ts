/** Rows at the borders of the windows of time by which a connector reads. */

import type { JsonValue } from "svc-connectors";
import { valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { LearnedFilter, Listing, ProviderRow } from "../contract/learned.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { type CursorColumn, inOrder, underKey, withCursor } from "../derive/rows/cursors.ts";
import { momentOf, textOf } from "../derive/rows/moments.ts";
import { outputRows } from "../derive/rows/rows.ts";
import { finalState, isBeyondRecordings, readFrom } from "../derive/sweeps/reads.ts";
import { readParameters } from "../learn/parameters.ts";
import { timeForms } from "./state-13.time-forms.ts";

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** The first read comes in the middle of a day: windows of days have one that is not over. */
const shiftMs = 13 * 60 * minuteMs + 7 * minuteMs;
/** Borders that rows are put at: the first ones, and the last ones. */
const sampledBorders = 3;
/** Number of the first made-up row. */
const firstNumber = 601;

export interface BorderRead {
  readonly stream: StreamFacts;
  readonly name: string;
  readonly first: Observation;
  readonly next: Observation;
  readonly state: JsonValue | undefined;
  /** Times of rows that neither read gave. */
  readonly lost: readonly string[];
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Undefined for a stream that does not read by windows. A text: why nothing can be said. */
export async function readAtBorders(
  lab: Lab,
  column: CursorColumn,
): Promise<BorderRead | string | undefined> {
  const { stream, listing } = column;
  const { filter } = listing;
  if (filter?.upper === undefined) return undefined;
  const windows = windowsOf(
    lab,
    listing,
    filter,
    await readFrom(lab, stream, undefined, { clockShiftMs: shiftMs }),
  );
  const form = timeForms(column).toSorted((one, other) => one.stepMs - other.stepMs)[0];
  const nowMs = lab.can("clock")
    ? Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "") + shiftMs
    : Date.now();
  const times = borderTimes(windows, nowMs, form?.stepMs ?? 1);
  if (!form || times.length === 0) return "its windows have no border before the read begins";
  const made = times.flatMap((ms, at) => {
    const row = underKey(listing.rows[at % listing.rows.length] ?? {}, column, firstNumber + at);
    return row ? [withCursor(row, column, form.write(ms, false))] : [];
  });
  if (made.length === 0) return "no field of its rows is seen to become their key";
  const rows = (one: Listing, all: readonly ProviderRow[]) =>
    one === listing ? inOrder(made, column) : all;
  const provider = () => lab.learned.provider({ rows });
  const first = await readFrom(lab, stream, undefined, {
    provider: provider(),
    clockShiftMs: shiftMs,
  });
  const state = finalState(first, stream);
  const next = await readFrom(lab, stream, state, {
    provider: provider(),
    clockShiftMs: shiftMs + dayMs,
  });
  if ([first, next].some((one) => one.outcome.status !== "succeeded" || isBeyondRecordings(one)))
    return "rows at the borders of its windows cannot be read";
  const given = new Set(
    [first, next].flatMap((one) =>
      outputRows(one.messages, stream).flatMap(({ data }) =>
        stream.primaryKey.map((name) => textOf(data[name])),
      ),
    ),
  );
  const keyField = column.keyFields[0] ?? "";
  const lost = made
    .filter((row) => !given.has(textOf(valueAt(row, keyField))))
    .map((row) => textOf(valueAt(row, column.field)) ?? "");
  const name = `${stream.label}: rows stand at the borders of its windows of time`;
  return { stream, name, first, next, state, lost };
}

function windowsOf(
  lab: Lab,
  listing: Listing,
  { parameter, upper }: LearnedFilter,
  { exchanges }: Observation,
): readonly Window[] {
  const asked = exchanges
    .map(({ request }) => request)
    .filter((request) => lab.learned.listingOf(request) === listing);
  const windows = asked.flatMap((request): Window[] => {
    const [from, to] = [boundOf(request, parameter), boundOf(request, upper?.parameter ?? "")];
    if (from?.kind !== "time" || to?.kind !== "time") return [];
    return [{ fromMs: from.value, toMs: to.value + (upper?.isWholeDay ? dayMs : 0) }];
  });
  return [...new Map(windows.map((one) => [one.fromMs, one])).values()].toSorted(
    (one, other) => one.fromMs - other.fromMs,
  );
}

function boundOf({ url, body }: Pick<ProviderRequest, "url" | "body">, name: string) {
  const parameters = readParameters(url, body);
  return momentOf(parameters.get(`?${name}`) ?? parameters.get(`/${name}`));
}

/**
 * At the end of a window, right behind it, right before the next one and at its beginning; and up
 * to the moment of the read, behind the last one.
 */
function borderTimes(windows: readonly Window[], nowMs: number, stepMs: number): readonly number[] {
  const borders = windows.slice(1).map(({ fromMs }, at) => ({
    endMs: windows[at]?.toMs ?? fromMs,
    nextMs: fromMs,
  }));
  const last = windows.at(-1);
  const chosen = [
    ...new Set([...borders.slice(0, sampledBorders), ...borders.slice(-sampledBorders)]),
    ...(last ? [{ endMs: last.toMs, nextMs: nowMs - minuteMs }] : []),
  ];
  const times = chosen.flatMap(({ endMs, nextMs }) =>
    [endMs - stepMs, endMs, endMs + stepMs, nextMs - stepMs, nextMs].filter(
      (ms) => ms <= Math.max(endMs, nextMs) && ms < nowMs - minuteMs / 2,
    ),
  );
  return [...new Set(times.map((ms) => Math.round(ms / stepMs) * stepMs))].toSorted(
    (one, other) => one - other,
  );
}
