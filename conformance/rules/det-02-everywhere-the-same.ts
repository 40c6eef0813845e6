import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, RunOptions } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { cursorColumn, cursorOf } from "../derive/rows/cursors.ts";
import { latest } from "../derive/rows/moments.ts";
import { withOtherOffsets } from "../derive/rows/offsets.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows/rows.ts";
import { contrast, firstDifference, firstLogDifference } from "../derive/sweeps/canonical-log.ts";
import {
  type CommandCase,
  clockShiftMs,
  compareRequests,
  environments,
  numbered,
  recordedCommands,
  type SettledRun,
  settledRun,
} from "../derive/sweeps/environments.ts";
import {
  finalState,
  incrementalStreams,
  readFrom,
  stateText,
  undisturbed,
} from "../derive/sweeps/reads.ts";

const sampledCommands = 16;

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
  notApplicable: (lab) =>
    lab.can("environment") || lab.can("clock")
      ? undefined
      : "neither the environment nor the clock of this target can be set",
  async run(lab, report) {
    for (const one of lab.sample(recordedCommands(lab, ["discover", "read"]), sampledCommands))
      await lookAtPlaces(lab, report, one);
    await lookAtOffsets(lab, report);
  },
});

/** Elsewhere, and at another time, compared with the same run at home. */
async function lookAtPlaces(lab: Lab, report: Reporter, one: CommandCase): Promise<void> {
  const [home, ...abroad] = environments;
  const atHome = lab.can("environment") ? { environment: home } : {};
  const first = await settledRun(lab, one.command, atHome);
  if (first.observation.outcome.status === "failed")
    return report.untried(`${one.name}: it fails at home too`);
  const compare = async (when: string, runOptions: RunOptions, shiftMs: number) => {
    const subject = `${one.name} ${when}`;
    report.checked(subject);
    const other = await settledRun(lab, one.command, runOptions);
    const found = differenceOf(lab, first, other, shiftMs);
    if (found === undefined) return;
    // A difference from run to run in one place is the concern of DET-01.
    for (let count = 0; count < 2; count++)
      if (differenceOf(lab, first, await settledRun(lab, one.command, atHome), 0) !== undefined)
        return;
    report.fail(
      `${subject}: ${found.what}: ${contrast(found.lines)}.`,
      ...found.lines.map((line, at) => textEvidence(at === 0 ? "Before" : "After", line)),
      exchangeEvidence("Requests before", first.observation.exchanges),
      exchangeEvidence("Requests after", other.observation.exchanges),
    );
  };
  for (const environment of lab.can("environment") ? abroad : [])
    await compare(`with TZ=${environment.TZ} and LANG=${environment.LANG}`, { environment }, 0);
  if (lab.can("clock"))
    await compare(
      "when the clock stands at another day and hour",
      { ...atHome, clockShiftMs },
      clockShiftMs,
    );
}

function differenceOf(lab: Lab, one: SettledRun, other: SettledRun, shiftMs: number) {
  const asked = firstDifference(one.asked, other.asked);
  // A connector that asks for the last thirty days is given other rows when the clock has moved.
  if (
    asked &&
    shiftMs > 0 &&
    compareRequests(one.observation.exchanges, other.observation.exchanges, shiftMs) === "follows"
  )
    return undefined;
  if (asked) return { what: "other things are asked for", lines: asked.lines };
  const found = firstLogDifference(one.log, other.log);
  return found && { what: `${numbered(lab, "message", found.at)} differs`, lines: found.lines };
}

/** The same times with other offsets: the next read finds what it found before. */
async function lookAtOffsets(lab: Lab, report: Reporter): Promise<void> {
  for (const stream of incrementalStreams(lab)) {
    const column = await cursorColumn(lab, stream);
    const changes =
      column &&
      withOtherOffsets(column, latest(column.listing.rows.map((row) => cursorOf(row, column))));
    if (!changes) continue;
    report.checked(`${stream.label}: the same times written with other offsets`);
    const before = await readFrom(lab, stream, finalState(await undisturbed(lab, stream), stream));
    const first = await readFrom(lab, stream, undefined, {
      provider: lab.learned.provider(changes),
    });
    const state = finalState(first, stream);
    const after = await readFrom(lab, stream, state, { provider: lab.learned.provider(changes) });
    if ([before, first, after].some(({ outcome }) => outcome.status !== "succeeded")) continue;
    const difference = compareRows(
      outputRows(before.messages, stream),
      outputRows(after.messages, stream),
    );
    const { missing, extra } = difference;
    if (missing.length + extra.length > 0)
      report.fail(
        `${stream.label}: when the provider writes the same times with other offsets, the state becomes ${stateText(state)}, and a read from it comes with ${describeDifference({ missing, extra, changed: [] })}.`,
        messageEvidence("The first read", first, []),
        exchangeEvidence("Requests of the next read", after.exchanges),
      );
  }
}
