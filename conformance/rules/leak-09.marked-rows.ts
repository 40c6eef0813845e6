/**
 * Runs in which every text of the provider's rows is marked, so that it can be looked for where
 * rows do not belong: in logs.
 */
import type { JsonValue } from "svc-connectors";
import type { Canary, Lab } from "../contract/lab.ts";
import type { Listing, ProviderRow } from "../contract/learned.ts";
import type { SearchedRun } from "../derive/leaks/leak-findings.ts";
import { sinksOf, sinksOfGiven } from "../derive/leaks/sinks.ts";
import { canaryValue } from "../fixtures/canaries.ts";

export const rowMark = ({ seed }: Pick<Lab, "seed">): Canary => ({
  name: "a value of a row",
  value: canaryValue(seed, "row"),
});

const sampledStreams = 4;

/** Done once for all rules. */
export function markedRuns(lab: Lab): Promise<readonly SearchedRun[]> {
  return lab.once("marked rows", async () => {
    const runs: SearchedRun[] = [];
    const used = await requestedTexts(lab);
    for (const stream of lab.sample(
      lab.streams.filter(({ recording }) => recording !== undefined),
      sampledStreams,
    )) {
      const provider = lab.learned.provider({
        rows: (listing, rows) => markRows(lab, listing, rows, used),
      });
      const observation = await lab.run(lab.readCommand([stream], { syncMode: "incremental" }), {
        provider,
        keepsGiven: lab.can("inside"),
      });
      const sinks = [...sinksOf(observation), ...sinksOfGiven(observation.given)];
      runs.push({
        name: `${stream.label}, with marked rows`,
        observation,
        sinks,
        isDisturbed: false,
        isTalkative: false,
        isFiltered: lab.manifest !== undefined,
        canaries: [],
      });
    }
    return runs;
  });
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
function fieldsToMark({ streams }: Lab, { rows }: Listing): string[] {
  const keys = new Set(
    streams.flatMap(({ primaryKey, cursorField }) => [
      ...primaryKey,
      ...(cursorField === undefined ? [] : [cursorField]),
    ]),
  );
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

/** Times, numbers, addresses. */
const isCode = (text: string) =>
  /^[\d.,:+TZ-]+$|^\d{4}-\d\d-\d\d|^[a-z][a-z0-9+.-]*:\/\/|^[^@\s]+@[^@\s]+$/i.test(text);
