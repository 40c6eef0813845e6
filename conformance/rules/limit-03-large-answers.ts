import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { TransportFault } from "../contract/network.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { largePage } from "../derive/rows/large-page.ts";
import { type CancelledWork, workToCancel } from "../derive/sweeps/cancels.ts";
import { untypedEnd } from "../derive/sweeps/odd-outcomes.ts";
import { gaugeMemory } from "../replay/gauges.ts";
import { withAnswers } from "../replay/strict.ts";

const mebibyte = 2 ** 20;
/** More than any page of an API, little enough for a test machine. */
const bombBytes = 160 * mebibyte;
const endlessBytes = 128 * mebibyte;
/**
 * The memory that a bounded reader of answers may hold for a moment: 64 MiB are usual, and copies
 * of them.
 */
const mostHeld = 144 * mebibyte;
/** Memory for a page: this much, or so many times its size as text. */
const pageHeld = { least: 256 * mebibyte, times: 40 };
const deadlineMs = 20_000;

export default defineRule({
  id: "LIMIT-03",
  level: "MUST",
  profile: "scale",
  since: "0.1.0",
  title:
    "An answer that expands without measure, never ends or holds a hundred thousand rows is bounded or handled.",
  why: "One answer of one provider must not take the memory of all syncs on the machine. A few hundred kilobytes of gzip become a gigabyte.",
  fix: "Count the bytes of each answer, after decompression, and give it up beyond a bound with a typed failure.",
  good: "if ((size += chunk.length) > maxBytes) throw tooLarge();",
  bad: "const text = await response.text();",
  notApplicable(lab) {
    if (!lab.can("faults")) return "faults cannot be put between this target and its provider";
    return lab.egress === "http"
      ? undefined
      : "its provider is a database: the fault server speaks HTTP";
  },
  async run(lab, report) {
    const works = await workToCancel(lab);
    if (works.length === 0)
      return report.missing(
        "No check, discover or read of this connector sends a request and succeeds, so that no answer can be made large. Record a read.",
      );
    for (const work of lab.sample(works, 2)) {
      await take(
        lab,
        work,
        "an answer that expands to 160 MB",
        { type: "gzip-bomb", bytes: bombBytes },
        report,
      );
      await take(
        lab,
        work,
        "an answer without end",
        { type: "endless", bytes: endlessBytes },
        report,
      );
      // The next ones would only cost as much memory and time.
      if (report.problemCount > 0) return;
    }
    await takePage(lab, report);
  },
});

async function take(
  lab: Lab,
  { name, command }: CancelledWork,
  answerName: string,
  fault: TransportFault,
  report: Reporter,
): Promise<void> {
  const subject = `${name}, ${answerName}`;
  report.checked(subject);
  const memory = gaugeMemory();
  const seen = await lab.run(command, {
    transport: "server",
    provider: withAnswers(lab.learned.provider(), (answer) => ({ ...answer, fault })),
    // Time is no bound of size: a fast network brings gigabytes in any timeout.
    timeouts: { connectMs: 10_000, headersMs: 10_000, idleMs: 10_000, totalMs: deadlineMs },
    deadlineMs,
    isBusy: memory.isMoving,
  });
  const held = memory.stop();
  const evidence = [
    exchangeEvidence("Requests", seen.exchanges.slice(0, 5)),
    messageEvidence("Messages", seen, []),
  ];
  const taken = seen.exchanges.find(
    ({ answer, isAbandoned }) => answer?.fault?.type === "endless" && isAbandoned !== true,
  );
  if (taken)
    report.fail(
      `${subject}: ${endlessBytes / mebibyte} MB of it were taken, until the provider broke the connection. Expected: it is given up beyond a bound.`,
      ...evidence,
    );
  else if (lab.target.kind !== "container" && held > mostHeld)
    report.fail(
      `${subject}: ${Math.round(held / mebibyte)} MB were held at once. Expected: it is given up beyond a bound.`,
      ...evidence,
    );
  const end = untypedEnd(seen);
  if (end !== undefined)
    report.fail(`${subject}: ${end}. Expected: a failure of a class that names it.`, ...evidence);
  else if (seen.outcome.status === "succeeded")
    report.fail(
      `${subject}: the run succeeded without what it asked for. Expected: a failure.`,
      ...evidence,
    );
}

async function takePage(lab: Lab, report: Reporter): Promise<void> {
  const page = await largePage(lab);
  if (!page) return;
  const { one, rowCount, observation, pageBytes, peakBytes } = page;
  const subject = `${one.stream.label}, a page of ${rowCount.toLocaleString("en")} rows`;
  report.checked(subject);
  const evidence = messageEvidence("Messages besides the rows", observation, []);
  const end = untypedEnd(observation, one.whole);
  const { recordCount = 0, outcome } = observation;
  if (end !== undefined)
    report.fail(
      `${subject}: ${end}. Expected: its rows, or a failure of a class that names it.`,
      evidence,
    );
  else if (outcome.status === "succeeded" && recordCount < rowCount)
    report.fail(
      `${subject}: ${recordCount.toLocaleString("en")} of its rows were written, and the run succeeded. Expected: all of them, or a failure.`,
      evidence,
    );
  const most = Math.max(pageHeld.least, pageHeld.times * pageBytes);
  if (lab.can("inside") && peakBytes > most)
    report.fail(
      `${subject}: ${Math.round(peakBytes / mebibyte)} MB were held for ${Math.round(pageBytes / mebibyte)} MB of text. Expected: ${Math.round(most / mebibyte)} MB at most.`,
      evidence,
    );
}
