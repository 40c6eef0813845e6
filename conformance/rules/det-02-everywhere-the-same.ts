import type { Lab } from "../contract/lab.ts";
import { defineRule, type Look } from "../contract/rule.ts";
import { contrast, firstDifference } from "../derive/canonical-log.ts";
import { cursorColumn, cursorOf } from "../derive/cursors.ts";
import { clockShiftMs, compareRequests, environments, type OrderCase, recordedOrders, type SettledRun, settledRun } from "../derive/environments.ts";
import { latest } from "../derive/moments.ts";
import { withOtherOffsets } from "../derive/offsets.ts";
import { finalState, incrementalStreams, readFrom, stateText, undisturbed } from "../derive/reads.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows.ts";
import { exchangeEvidence, messageEvidence, textEvidence } from "../evidence.ts";

const sampledOrders = 6;

export default defineRule({
  id: "DET-02",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "Time zone, language, the hour of the run and the spelling of a time change nothing.",
  why: "A connector that is right on its author's machine shifts days and skips rows on a server elsewhere, or twice a year.",
  fix: "Use UTC in every calculation and comparison, compare times as times, and never format or parse with the machine's zone or language.",
  good: "Date.parse(one) - Date.parse(other); new Date(ms).toISOString();",
  bad: 'new Date("2026-05-01 09:00"); date.toLocaleString(); one.updated_at > other.updated_at;',
  notApplicable: (lab) => (lab.can("environment") || lab.can("clock") ? undefined : "neither the environment nor the clock of this target can be set"),
  async run(lab, look) {
    for (const one of lab.sample(recordedOrders(lab, ["discover", "read"]), sampledOrders)) {
      if (lab.can("environment")) await lookAtPlaces(lab, look, one);
      if (lab.can("clock")) await lookAtTime(lab, look, one);
    }
    await lookAtOffsets(lab, look);
  },
});

async function lookAtPlaces(lab: Lab, look: Look, { name, order }: OrderCase): Promise<void> {
  const [home, ...abroad] = environments;
  const first = await settledRun(lab, order, { environment: home });
  if (!isSteady(first, await settledRun(lab, order, { environment: home }))) return;
  for (const environment of abroad) {
    look.at(`${name} with TZ=${environment.TZ} and LANG=${environment.LANG}`);
    report(look, `${name}: with TZ=${environment.TZ} and LANG=${environment.LANG}`, first, await settledRun(lab, order, { environment }), "same");
  }
}

async function lookAtTime(lab: Lab, look: Look, { name, order }: OrderCase): Promise<void> {
  look.at(`${name} a day later`);
  const now = await settledRun(lab, order);
  if (!isSteady(now, await settledRun(lab, order))) return;
  const then = await settledRun(lab, order, { clockShiftMs });
  report(look, `${name}: when the clock stands at another day and hour`, now, then, compareRequests(now.observation.exchanges, then.observation.exchanges, clockShiftMs));
}

/** What differs from run to run in one place is the concern of DET-01. */
const isSteady = (one: SettledRun, other: SettledRun) => !firstDifference(one.log, other.log) && !firstDifference(urlsOf(one), urlsOf(other));

/** @param requests whether the second run may have asked for other times */
function report(look: Look, when: string, one: SettledRun, other: SettledRun, requests: ReturnType<typeof compareRequests>): void {
  const evidence = [exchangeEvidence("Requests before", one.observation.exchanges), exchangeEvidence("Requests after", other.observation.exchanges)];
  const asked = firstDifference(urlsOf(one), urlsOf(other));
  if (requests === "differs" || (requests === "same" && asked)) return look.fail(`${when}, other things are asked for: ${asked ? contrast(asked.lines) : ""}.`, ...evidence);
  // Who asks for the last thirty days is given other rows.
  if (requests === "follows") return;
  const found = firstDifference(one.log, other.log);
  if (found) look.fail(`${when}, message ${found.at + 1} differs: ${contrast(found.lines)}.`, textEvidence("Before", found.lines[0]), textEvidence("After", found.lines[1]), ...evidence);
}

const urlsOf = ({ observation }: SettledRun) => observation.exchanges.map(({ request }) => `${request.method} ${request.url.href} ${request.body}`);

/** The same times with other offsets: the next read finds what it found before. */
async function lookAtOffsets(lab: Lab, look: Look): Promise<void> {
  for (const stream of incrementalStreams(lab)) {
    const column = await cursorColumn(lab, stream);
    const changes = column && withOtherOffsets(column, latest(column.listing.rows.map((row) => cursorOf(row, column))));
    if (!changes) continue;
    look.at(`${stream.label}: the same times written with other offsets`);
    const before = await readFrom(lab, stream, finalState(await undisturbed(lab, stream), stream));
    const first = await readFrom(lab, stream, undefined, { provider: lab.learned.provider(changes) });
    const state = finalState(first, stream);
    const after = await readFrom(lab, stream, state, { provider: lab.learned.provider(changes) });
    if ([before, first, after].some(({ outcome }) => outcome.status !== "succeeded")) continue;
    const difference = compareRows(outputRows(before.messages, stream), outputRows(after.messages, stream));
    const { missing, extra } = difference;
    if (missing.length + extra.length > 0)
      look.fail(
        `${stream.label}: when the provider writes the same times with other offsets, the state becomes ${stateText(state)}, and a read from it comes with ${describeDifference({ missing, extra, changed: [] })}.`,
        messageEvidence("The first read", first, []),
        exchangeEvidence("Requests of the next read", after.exchanges),
      );
  }
}
