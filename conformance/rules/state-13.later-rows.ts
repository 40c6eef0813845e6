/** Rows that change around the moment that a read has saved, and the read that comes next. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import type { Answer, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import {
  type CursorColumn,
  changeRows,
  cursorColumn,
  cursorOf,
  directionOf,
  inOrder,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, textOf } from "../derive/rows/moments.ts";
import { compareRows, type Difference, outputRows } from "../derive/rows/rows.ts";
import { isPageToken } from "../derive/sweeps/pages.ts";
import {
  finalState,
  incrementalStreams,
  isBeyondRecordings,
  readFrom,
  startOfReads,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { timedLeaves } from "../derive/sweeps/states.ts";
import { clockChanges, type TimeForm, timeForms } from "./state-13.time-forms.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** No mistake of precision, offset or summer time reaches so far. */
const farMs = 3 * dayMs;
/** When the next read comes: all rows are in its past. */
const laterMs = 10 * dayMs;
/** The digits behind a second, a millisecond: each rounds up. */
const fractionMs = 600.6;
const sampledColumns = 6;
/** One for each way to change, and the newest. */
const enoughRows = 9;

interface Moments {
  /** "times like 2026-05-01T09:00:00Z". */
  readonly name: string;
  readonly form: TimeForm;
  /** Time of the newest row of the first read. */
  readonly newestMs: number;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

export interface LaterRead {
  readonly stream: StreamFacts;
  readonly name: string;
  readonly first: Observation;
  readonly next: Observation;
  readonly state: JsonValue | undefined;
  readonly difference: Difference;
  /** The row that changed days later came, so that the connector does read later rows. */
  readonly isFarRead: boolean;
  /** A request for rows since something that is no time. */
  readonly unreadable: string | undefined;
}

/** Streams whose state says a time that comes from their rows. Done once. */
export const datedColumns = (lab: Lab): Promise<readonly CursorColumn[]> =>
  lab.once("columns of which states say a time", async () => {
    const found: CursorColumn[] = [];
    for (const stream of incrementalStreams(lab)) {
      const column = await cursorColumn(lab, stream);
      if (!column || timeForms(column).length === 0) continue;
      const whole = await undisturbed(lab, stream);
      const state = finalState(whole, stream);
      const isTimed = timedLeaves(state).some(({ moment }) => moment.kind === "time");
      if (isTimed && !isPageToken(state, whole, column.listings)) found.push(column);
    }
    return found;
  });

/** Moments of the newest row that a read could save wrong. */
function momentsToTry(lab: Lab, column: CursorColumn): readonly Moments[] {
  const forms = timeForms(column);
  const newest = momentOf(latest(column.listing.rows.map((row) => cursorOf(row, column))));
  const wholeMs = Math.floor((newest?.value ?? 0) / 1_000) * 1_000;
  const finest = forms.toSorted((one, other) => one.stepMs - other.stepMs)[0];
  // Hours and minutes, or whole days, have no change of the clock in them.
  const canChange = finest !== undefined && finest.stepMs <= 1_000 && lab.can("environment");
  return [
    ...forms.map((form) => ({
      name: `times ${form.name}`,
      form,
      newestMs: floorTo(wholeMs + fractionMs, form.stepMs),
    })),
    ...(canChange ? clockChanges(wholeMs) : []).map(({ name, ms }) => ({
      name: `half an hour before the change to ${name}`,
      form: finest as TimeForm,
      newestMs: floorTo(ms - hourMs / 2 + fractionMs, finest?.stepMs ?? 1),
      environment: { TZ: "Europe/Berlin" },
    })),
  ];
}

const floorTo = (ms: number, step: number) => (step >= 1 ? Math.floor(ms / step) * step : ms);

/**
 * How much later than the newest row the others change, while nobody reads; the most telling first,
 * for listings of few rows.
 */
const changesAfter = ({ stepMs }: TimeForm, isEqualSeen: boolean): readonly number[] => [
  stepMs,
  40 * minuteMs,
  ...(isEqualSeen ? [0] : []),
  ...[500, 1.5 * hourMs, 0.4, 1_000].filter((ms) => ms > stepMs),
];

/** Of every stream, all that could be tried. Done once. */
export const laterReads = (lab: Lab): Promise<readonly LaterRead[]> =>
  lab.once("reads after rows have changed", async () => {
    const found: LaterRead[] = [];
    for (const column of lab.sample(await datedColumns(lab), sampledColumns)) {
      const isLong = column.listing.rows.length > enoughRows || column.keyFields.length === 0;
      const ofForms: LaterRead[] = [];
      for (const moments of momentsToTry(lab, column)) {
        const long = isLong ? undefined : await readLater(lab, column, moments, enoughRows);
        const own =
          isConclusive(long) || column.listing.rows.length <= 2
            ? long
            : ((await readLater(lab, column, moments, 0)) ?? long);
        if (own && moments.environment === undefined) ofForms.push(own);
        else if (own && isConclusive(own)) found.push(own);
      }
      // Nothing can be said of a stream whose later rows never come. Where those of one form do,
      // those of all have to: they are of the same days.
      const isSeen = ofForms.some(({ isFarRead }) => isFarRead);
      found.push(...ofForms.filter((read) => isSeen || isConclusive(read)));
    }
    return found;
  });

/** Whether it shows later rows, or a failure. */
const isConclusive = (read: LaterRead | undefined) =>
  read !== undefined && (read.isFarRead || read.next.outcome.status !== "succeeded");

/**
 * Reads to the end; then old rows change, right behind the newest one; a second read goes on from
 * the state. Both together, against what the provider has then. Undefined where nothing can be
 * said: a read from the beginning fails.
 */
async function readLater(
  lab: Lab,
  column: CursorColumn,
  moments: Moments,
  addedRows: number,
): Promise<LaterRead | undefined> {
  const { stream } = column;
  const { environment } = moments;
  const options = environment === undefined ? {} : { environment };
  const first = await readFrom(lab, stream, undefined, {
    ...options,
    provider: lab.learned.provider(rowsBefore(column, moments)),
  });
  const state = finalState(first, stream);
  if (first.outcome.status !== "succeeded" || state === undefined) return undefined;
  if (isTimeOfRead(lab, state, moments)) return undefined;
  const after = rowsAfter(column, moments, addedRows);
  const settled = () => ({
    ...options,
    clockShiftMs: laterMs,
    provider: lab.learned.provider(after),
  });
  const whole = await readFrom(lab, stream, undefined, settled());
  if (whole.outcome.status !== "succeeded") return undefined;
  let unreadable: string | undefined;
  const next = await readFrom(lab, stream, state, {
    ...settled(),
    provider: refusingTimes(lab, lab.learned.provider(after), (text) => {
      unreadable = text;
    }),
  });
  if (unreadable === undefined && isBeyondRecordings(next)) return undefined;
  const expected = outputRows(whole.messages, stream);
  const given = outputRows(next.messages, stream);
  const farthest = latest(expected.map(({ data }) => data[column.cursorField]));
  const isFarRead = given.some(({ data }) => textOf(data[column.cursorField]) === textOf(farthest));
  const difference = compareRows(expected, [...outputRows(first.messages, stream), ...given]);
  return {
    stream,
    name: `${stream.label}: rows change right behind the newest one, ${moments.name}`,
    first,
    next,
    state,
    difference,
    isFarRead,
    unreadable,
  };
}

/** Rows that come late, with a time before the saved one, are nothing that the state promises. */
function isTimeOfRead(lab: Lab, state: JsonValue, { newestMs }: Moments): boolean {
  const nowMs = startOfReads(lab);
  return timedLeaves(state).some(
    ({ moment: { value } }) =>
      Math.abs(value - nowMs) < hourMs && Math.abs(newestMs - nowMs) > hourMs,
  );
}

/** The newest row at the moment, the others hours before it, each in its place. */
function rowsBefore(column: CursorColumn, { form, newestMs }: Moments): ProviderChanges {
  const isDescending = directionOf(column) === "descending";
  return changeRows(column, (rows) =>
    rows.map((row, at) => {
      const back = isDescending ? at : rows.length - 1 - at;
      return withCursor(row, column, form.write(newestMs - 2 * back * hourMs, false));
    }),
  );
}

/** All rows but the newest have changed; of many, some at each moment. */
function rowsAfter(column: CursorColumn, moments: Moments, addedRows: number): ProviderChanges {
  const { form, newestMs } = moments;
  const { comparison } = column.listing.filter ?? { comparison: ">=" };
  const before = rowsBefore(column, moments);
  const isDescending = directionOf(column) === "descending";
  const distances = changesAfter(form, comparison === ">=");
  return {
    rows(listing, rows, requestCount) {
      const known = before.rows?.(listing, rows, requestCount) ?? rows;
      if (!column.listings.includes(listing) || known.length === 0) return known;
      const added = Array.from(
        { length: Math.max(0, addedRows - known.length) },
        (_, at) => underKey(known[at % known.length] ?? {}, column, 501 + at) ?? {},
      );
      const own = isDescending ? [...known, ...added] : [...added, ...known];
      const last = isDescending ? 0 : own.length - 1;
      const changed = own.map((row, at) => {
        if (at === last && own.length > 1) return row;
        const rank = isDescending ? at - 1 : at;
        // The first one shows whether the connector reads later rows at all.
        const distance =
          rank <= 0 ? farMs : (distances[(rank - 1) % distances.length] ?? form.stepMs);
        return withCursor(row, column, form.write(newestMs + distance, true));
      });
      return inOrder(changed, column);
    },
  };
}

/** Providers refuse a filter that is no time, such as one whose + became a space. */
function refusingTimes(lab: Lab, provider: Provider, note: (text: string) => void): Provider {
  const own = lab.answers?.answers["400"];
  const refusal: Answer = {
    status: 400,
    headers: { "content-type": "application/json", ...own?.headers },
    body: Buffer.from(
      own?.body ?? '{"error":{"code":"invalid","message":"The value is not valid."}}',
    ),
  };
  return {
    answer(request) {
      const filter = lab.learned.listingOf(request)?.filter;
      const value =
        filter && !filter.isInBody ? request.url.searchParams.get(filter.parameter) : null;
      if (!value || momentOf(value.replace(/ (\d\d:?\d\d)$/, "+ $1")) !== undefined)
        return provider.answer(request);
      note(`${filter?.parameter}=${value}`);
      return refusal;
    },
    unused: () => [],
  };
}
