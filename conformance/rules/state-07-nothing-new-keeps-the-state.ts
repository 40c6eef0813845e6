import type { JsonValue } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { emptyProvider } from "../derive/database/copies.ts";
import { momentOf } from "../derive/rows/moments.ts";
import { keyOf, parentListings } from "../derive/rows/parents.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows/rows.ts";
import {
  finalState,
  incrementalStreams,
  isBeyondRecordings,
  noIncrementalStream,
  readFrom,
  resumedAtEnd,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";
import { leavesOfState, pathText } from "../derive/sweeps/states.ts";

export default defineRule({
  id: "STATE-07",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "A read that finds nothing new writes the state that it was given.",
  why: "An empty read whose state is empty starts all over next time; one whose state is the present time skips rows that come in late.",
  fix: "Begin with the saved cursor, move it with rows only, and write it at the end in any case.",
  good: "let newest = saved.since; for (const row of rows) newest = later(newest, row.updated_at);",
  bad: 'yield checkpoint({ since: rows.at(-1)?.updated_at ?? "" });',
  notApplicable: noIncrementalStream,
  async run(lab, report) {
    for (const stream of incrementalStreams(lab)) {
      const state = finalState(await undisturbed(lab, stream), stream);
      if (state !== undefined) {
        report.checked(`${stream.label}: the provider has no rows any more`);
        const empty = await readFrom(lab, stream, state, await emptyProvider(lab));
        compare(report, stream, state, empty, await parentKeys(lab, stream));
        const end = await resumedAtEnd(lab, stream);
        if (end) compare(report, stream, state, end.observation, new Set());
      }
      await lookAtFirstRead(lab, report, stream);
    }
  },
});

/**
 * The keys that a state may forget when the provider has no rows at all: its parents are gone too.
 */
async function parentKeys(lab: Lab, stream: StreamFacts): Promise<ReadonlySet<string>> {
  if (lab.database) return new Set();
  const parents = await parentListings(lab, stream);
  return new Set(
    parents.flatMap(({ listing, keyField }) =>
      listing.rows.flatMap((row) => keyOf(row, keyField) ?? []),
    ),
  );
}

/** @param gone keys of parents that are there no more: what the state says of them may go */
function compare(
  report: Reporter,
  stream: StreamFacts,
  state: JsonValue,
  observation: Observation,
  gone: ReadonlySet<string>,
): void {
  const { label } = stream;
  const isEmpty = outputRows(observation.messages, stream).length === 0;
  if (!isEmpty || observation.outcome.status !== "succeeded" || isBeyondRecordings(observation))
    return;
  report.checked(`${label}: read from ${stateText(state)} without rows`);
  const written = finalState(observation, stream);
  const evidence = [
    messageEvidence("The read", observation, []),
    exchangeEvidence("Its requests", observation.exchanges),
  ];
  if (written === undefined) {
    report.fail(
      `${label}: a read from ${stateText(state)} that finds nothing new writes no state; it has to write that one again.`,
      ...evidence,
    );
    return;
  }
  const changed = changedLeaves(state, written, observation, gone);
  if (changed.length > 0)
    report.fail(
      `${label}: a read from ${stateText(state)} that finds nothing new writes ${stateText(written)}: ${changed.join(", ")}. It has to write the state that it was given.`,
      ...evidence,
    );
}

/**
 * Leaves that differ; a token that the provider handed out in this read may take the place of
 * another one.
 */
function changedLeaves(
  before: JsonValue,
  after: JsonValue,
  { exchanges }: Observation,
  gone: ReadonlySet<string>,
): string[] {
  if (canonicalize(before) === canonicalize(after)) return [];
  const answers = exchanges.map(({ answer }) => answer?.body.toString("utf8") ?? "").join("\n");
  const old = new Map(leavesOfState(before).map(({ path, value }) => [path.join("\n"), value]));
  const now = new Map(leavesOfState(after).map(({ path, value }) => [path.join("\n"), value]));
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((key) => {
    const [was, is] = [old.get(key), now.get(key)];
    const isToken =
      typeof is === "string" &&
      is !== "" &&
      momentOf(is) === undefined &&
      answers.includes(JSON.stringify(is).slice(1, -1));
    const isForgotten =
      is === undefined && (gone.has(String(was)) || key.split("\n").some((step) => gone.has(step)));
    if (was === is || isToken || isForgotten) return [];
    return [
      `${pathText(key === "" ? [] : key.split("\n"))} is ${JSON.stringify(is) ?? "gone"} instead of ${JSON.stringify(was) ?? "nothing"}`,
    ];
  });
}

const comesFromElsewhere = "its rows come although every listing is empty";

/** The very first read finds no rows; the next one finds all of them. */
async function lookAtFirstRead(lab: Lab, report: Reporter, stream: StreamFacts): Promise<void> {
  const empty = await readFrom(lab, stream, undefined, await emptyProvider(lab));
  if (empty.outcome.status !== "succeeded" || isBeyondRecordings(empty)) return;
  if (outputRows(empty.messages, stream).length > 0)
    return report.untried(`${stream.label}: a first read without rows: ${comesFromElsewhere}`);
  report.checked(`${stream.label}: a first read without rows`);
  const state = finalState(empty, stream);
  const next = await readFrom(lab, stream, state);
  if (isBeyondRecordings(next)) return;
  const { missing, changed } = compareRows(
    outputRows((await undisturbed(lab, stream)).messages, stream),
    outputRows(next.messages, stream),
  );
  if (missing.length + changed.length > 0 || next.outcome.status !== "succeeded")
    report.fail(
      `${stream.label}: a first read without rows writes ${stateText(state)}; the next read, from it, ${next.outcome.status === "succeeded" ? `ends with ${describeDifference({ missing, changed, extra: [] })}` : `${next.outcome.status}: ${next.outcome.failures[0]?.message ?? ""}`}.`,
      messageEvidence("The read without rows", empty, []),
      messageEvidence("The next read", next, []),
    );
}
