/** Listings of many pages, and reads from positions that the provider has forgotten. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { Lab, RunOptions } from "../contract/lab.ts";
import type { ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { Answer, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import {
  type CursorColumn,
  changeRows,
  cursorOf,
  directionOf,
  underKey,
  withCursor,
} from "../derive/rows/cursors.ts";
import { latest, momentOf, writeLike } from "../derive/rows/moments.ts";
import { statesOf } from "../derive/rows/rows.ts";
import { readFrom, undisturbed } from "../derive/sweeps/reads.ts";
import { leavesOfState } from "../derive/sweeps/states.ts";

/**
 * The provider makes the read wait for a minute, once in so many requests, so that checkpoints by
 * time are due. Longer waits end a run.
 */
const waitSeconds = 60;
const requestsPerWait = 12;
/** Pages are made no larger than this. */
const maxPageSize = 200;

/** A state is expected after so many pages. */
export const maxPages = 100;
/** Long enough for one. */
export const pagesRead = maxPages + 10;

/** A read of {@link pagesRead} pages from the beginning, and further ones of the same provider. */
export interface LongRead {
  readonly whole: Observation;
  /** All rows of the listing that is so long. */
  readonly rows: readonly ProviderRow[];
  /** The provider with these rows, where they and those of other listings are changed. */
  provider(edit?: ProviderChanges["rows"]): Provider;
  read(state?: JsonValue, runOptions?: RunOptions): Promise<Observation>;
}

/**
 * A read of {@link pagesRead} pages, each row with a key and a cursor value of its own. `isWide`:
 * with the largest pages that the connector's settings allow. Undefined when no setting says how
 * large they are, and when it asks for fewer pages than that, or fails. Done once.
 */
export const readLong = (
  lab: Lab,
  column: CursorColumn,
  isWide: boolean,
): Promise<LongRead | undefined> =>
  lab.once(`${isWide ? "wide" : "long"} read ${column.stream.label}`, async () => {
    const setting = isWide ? pageSizeSetting(lab, column.listing.pageSize) : undefined;
    if (isWide && !setting) return undefined;
    const reads = longReads(lab, column, setting);
    const whole = await reads.read();
    return isLong(lab, column, whole) ? { whole, ...reads } : undefined;
  });

/** Whether a read from the beginning was one, and succeeded. */
function isLong(lab: Lab, { listing }: CursorColumn, { exchanges, outcome }: Observation): boolean {
  const asked = exchanges.filter(
    ({ request, answer }) => answer?.status === 200 && lab.learned.listingOf(request) === listing,
  );
  return asked.length >= pagesRead && outcome.status === "succeeded";
}

/** Reads of one provider with so many pages, from the beginning or from a state. */
function longReads(
  lab: Lab,
  column: CursorColumn,
  setting: PageSizeSetting | undefined,
): Omit<LongRead, "whole"> {
  const { listing, stream } = column;
  const size = setting?.size ?? listing.pageSize;
  const rows = manyRows(column, pagesRead * size);
  const { rows: long } = changeRows(column, (own, one) => (one === listing ? rows : own));
  const provider: LongRead["provider"] = (edit) => {
    const learned = lab.learned.provider({
      rows(one, own, requestCount) {
        const given = long(one, own, requestCount);
        return edit?.(one, given, requestCount) ?? given;
      },
    });
    return lab.can("clock") ? waiting(lab, learned) : learned;
  };
  const unchanged = provider();
  return {
    rows,
    provider,
    read(state, runOptions) {
      const command = lab.readCommand([stream], {
        syncMode: "incremental",
        ...(setting ? { config: { ...lab.config, [setting.name]: size } } : {}),
        ...(state === undefined ? {} : { state: { [stream.label]: state } }),
      });
      return lab.run(command, { ...runOptions, provider: unchanged });
    },
  };
}

function manyRows(column: CursorColumn, count: number) {
  const { rows } = column.listing;
  const newest = latest(rows.map((row) => cursorOf(row, column)));
  const moment = momentOf(newest);
  const step = moment?.kind === "time" ? stepOf(column, count) : 1;
  const isDescending = directionOf(column) === "descending";
  return Array.from({ length: count }, (_, at) => {
    const model = rows[at % rows.length] ?? {};
    const before = isDescending ? at : count - 1 - at;
    return withCursor(
      underKey(model, column, at + 1) ?? model,
      column,
      writeLike(newest, (moment?.value ?? 0) - before * step),
    );
  });
}

/**
 * Milliseconds from row to row. A connector that reads by windows of time has rows in each of those
 * that were recorded: in one window alone it could not write a state.
 */
function stepOf(column: CursorColumn, count: number): number {
  const times = column.listing.rows.flatMap((row) => momentOf(cursorOf(row, column))?.value ?? []);
  const spanMs = Math.max(...times) - Math.min(...times);
  return column.listing.filter?.upper ? Math.max(1, Math.floor(spanMs / count)) : 1_000;
}

interface PageSizeSetting {
  readonly name: string;
  readonly size: number;
}

/** The setting that says how many rows are asked for: its value is the page size. */
function pageSizeSetting(lab: Lab, pageSize: number): PageSizeSetting | undefined {
  const properties = Object.entries(
    (lab.spec.properties ?? {}) as { readonly [name: string]: JsonObject },
  );
  const found = properties.find(
    ([name, schema]) =>
      schema.type === "integer" &&
      (lab.config[name] ?? schema.default) === pageSize &&
      Number(schema.maximum) > pageSize,
  );
  return found && { name: found[0], size: Math.min(maxPageSize, Number(found[1].maximum)) };
}

function waiting(lab: Lab, provider: Provider): Provider {
  return {
    answer: (request) =>
      request.index % requestsPerWait === requestsPerWait - 1
        ? {
            status: 429,
            headers: { "content-type": "application/json", "retry-after": String(waitSeconds) },
            body: Buffer.from(lab.answers?.answers["429"]?.body ?? "{}"),
          }
        : provider.answer(request),
    unused: () => [],
  };
}

export interface ForgottenPosition {
  readonly state: JsonValue;
  readonly token: string;
  readonly observation: Observation;
}

/**
 * Reads from states that hold a token of the provider, which answers 410 to whoever brings it. The
 * first and the last such state.
 */
export async function readForgotten(
  lab: Lab,
  stream: CursorColumn["stream"],
  most: number,
): Promise<readonly ForgottenPosition[]> {
  const whole = await undisturbed(lab, stream);
  const issued = whole.exchanges
    .map(({ answer }) => answer?.body.toString("utf8") ?? "")
    .join("\n");
  const held = statesOf(whole, stream.label).flatMap(({ state }) => {
    const token = leavesOfState(state)
      .map(({ value }) => value)
      .find((value): value is string => isToken(value, issued));
    return token === undefined ? [] : [{ state, token }];
  });
  const reads: ForgottenPosition[] = [];
  for (const { state, token } of lab.sample(held, most)) {
    const gone = forgetful(lab, token);
    const observation = await readFrom(lab, stream, state, { provider: gone.provider });
    if (gone.isAsked()) reads.push({ state, token, observation });
  }
  return reads;
}

const isToken = (value: JsonValue, issued: string) =>
  typeof value === "string" &&
  value.length > 2 &&
  momentOf(value) === undefined &&
  issued.includes(JSON.stringify(value).slice(1, -1));

function forgetful(lab: Lab, token: string) {
  const truth = lab.learned.provider();
  const own = lab.answers?.answers["410"];
  const answer: Answer = {
    status: 410,
    headers: { "content-type": "application/json", ...own?.headers },
    body: Buffer.from(
      own?.body ?? '{"error":{"code":"gone","message":"This position has expired."}}',
    ),
  };
  let isAsked = false;
  const provider: Provider = {
    answer(request) {
      const values = [...request.url.searchParams.values()];
      if (
        !values.includes(token) &&
        !request.body.includes(JSON.stringify(token)) &&
        request.url.href !== token
      )
        return truth.answer(request);
      isAsked = true;
      return answer;
    },
    unused: () => [],
  };
  return { provider, isAsked: () => isAsked };
}
