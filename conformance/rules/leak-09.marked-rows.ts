/**
 * Runs in which values of the provider's rows are marked, so that they can be looked for where rows
 * do not belong: in logs and errors. Every text has the mark; or it stands in one row where a time,
 * a number or a known word has to be, which a connector may complain of.
 */
import type { JsonValue } from "svc-connectors";
import type { Canary, Lab, StreamFacts } from "../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../contract/learned.ts";
import type { SearchedRun } from "../derive/leaks/leak-findings.ts";
import { sinksOf, sinksOfGiven } from "../derive/leaks/sinks.ts";
import { changeRows, cursorColumn, withCursor } from "../derive/rows/cursors.ts";
import { incrementalStreams } from "../derive/sweeps/reads.ts";
import { canaryValue } from "../fixtures/canaries.ts";
import { scalarText } from "../learn/json.ts";

export const rowMark = ({ seed }: Pick<Lab, "seed">): Canary => ({
  name: "a value of a row",
  value: canaryValue(seed, "row"),
});

const sampledStreams = 4;

/** Done once for all rules. */
export function markedRuns(lab: Lab): Promise<readonly SearchedRun[]> {
  return lab.once("marked rows", async () => {
    const used = await requestedTexts(lab);
    const recorded = lab.streams.filter(({ recording }) => recording !== undefined);
    const runs: SearchedRun[] = [];
    for (const stream of lab.sample(recorded, sampledStreams)) {
      const all: ProviderChanges = { rows: (listing, rows) => markRows(lab, listing, rows, used) };
      runs.push(await markedRun(lab, stream, "with marked rows", all));
      const one: ProviderChanges = {
        rows: (listing, rows) => changeOne(rows, (row) => spoil(lab, listing, row, used)),
      };
      runs.push(await markedRun(lab, stream, "with texts in place of a row's values", one));
    }
    for (const stream of lab.sample(incrementalStreams(lab), sampledStreams)) {
      const changes = await unreadableCursor(lab, stream);
      if (changes)
        runs.push(await markedRun(lab, stream, "with a text as the cursor of a row", changes));
    }
    return runs;
  });
}

async function markedRun(
  lab: Lab,
  stream: StreamFacts,
  name: string,
  changes: ProviderChanges,
): Promise<SearchedRun> {
  const observation = await lab.run(lab.readCommand([stream], { syncMode: "incremental" }), {
    provider: lab.learned.provider(changes),
    keepsGiven: lab.can("inside"),
  });
  return {
    name: `${stream.label}, ${name}`,
    observation,
    sinks: [...sinksOf(observation), ...sinksOfGiven(observation.given)],
    isDisturbed: false,
    isTalkative: false,
    isFiltered: lab.manifest !== undefined,
    canaries: [],
  };
}

async function unreadableCursor(
  lab: Lab,
  stream: StreamFacts,
): Promise<ProviderChanges | undefined> {
  const column = await cursorColumn(lab, stream);
  const { value } = rowMark(lab);
  return (
    column && changeRows(column, (rows) => changeOne(rows, (row) => withCursor(row, column, value)))
  );
}

/** One in the middle: others come before and behind it. */
function changeOne(
  rows: readonly ProviderRow[],
  change: (row: ProviderRow) => ProviderRow,
): readonly ProviderRow[] {
  const at = rows.length >> 1;
  return rows.map((row, index) => (index === at ? change(row) : row));
}

/** The mark in place of all values that are neither keys, cursors, nor asked for. */
function spoil(lab: Lab, { rows }: Listing, row: ProviderRow, used: string): ProviderRow {
  const [keys, { value }] = [keysOf(lab), rowMark(lab)];
  const isAsked = (name: string) =>
    rows.some((one) => {
      const text = scalarText(one[name]);
      return text !== undefined && text !== "" && used.includes(text);
    });
  const spoiled = Object.keys(row).filter((name) => !keys.has(name) && !isAsked(name));
  return { ...row, ...Object.fromEntries(spoiled.map((name) => [name, value])) };
}

/**
 * Texts of rows that the connector puts into requests are more than data to it: ids of parents,
 * cursors.
 */
async function requestedTexts(lab: Lab): Promise<string> {
  return (await lab.golden())
    .flatMap(({ observation }) =>
      observation.exchanges.map(
        ({ request }) =>
          `${decodeURIComponent(request.url.href.replaceAll(/%(?![0-9a-f]{2})/gi, "%25"))}\n${request.body}`,
      ),
    )
    .join("\n");
}

function markRows(
  lab: Lab,
  listing: Listing,
  rows: readonly ProviderRow[],
  used: string,
): readonly ProviderRow[] {
  const { value } = rowMark(lab);
  const marked = fieldsToMark(lab, listing).filter((field) =>
    listing.rows.every((row) => !isText(row[field]) || !used.includes(row[field])),
  );
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(
      marked.flatMap((field) =>
        isText(row[field]) && row[field] !== "" ? [[field, `${row[field]} ${value}`]] : [],
      ),
    ),
  }));
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Fields of free text: each row has its own, and it is neither key, time, number nor address. */
function fieldsToMark(lab: Lab, { rows }: Listing): string[] {
  const keys = keysOf(lab);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.filter((name) => {
    const values = rows
      .map((row) => row[name] as JsonValue | undefined)
      .filter(isText)
      .filter((text) => text !== "");
    const isFree =
      values.length > 0 && new Set(values).size === values.length && !values.some(isCode);
    return (
      isFree &&
      !keys.has(name) &&
      !/(?:^|_)(?:id|uuid|key|token|url|href|type|status|state|code)$/i.test(name)
    );
  });
}

/** Names of the fields that are keys or cursors of a stream. */
const keysOf = ({ streams }: Lab): ReadonlySet<string> =>
  new Set(
    streams.flatMap(({ primaryKey, cursorField }) => [
      ...primaryKey,
      ...(cursorField === undefined ? [] : [cursorField]),
    ]),
  );

/** Times, numbers, addresses. */
const isCode = (text: string) =>
  /^[\d.,:+TZ-]+$|^\d{4}-\d\d-\d\d|^[a-z][a-z0-9+.-]*:\/\/|^[^@\s]+@[^@\s]+$/i.test(text);
