import { readdirSync } from "node:fs";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, RunOptions } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { type CancelledWork, cancelDeadlineMs, workToCancel } from "../derive/sweeps/cancels.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";
import { heldBytes } from "../replay/gauges.ts";
import { withAnswers } from "../replay/strict.ts";

const runCount = 20;
const sampledWorks = 3;
/** Handles that end by themselves, or belong to the transport. */
const passing = new Set([
  "Immediate",
  "TickObject",
  "CloseReq",
  "TTYWrap",
  "PipeWrap",
  "FSReqPromise",
  "TCPSocketWrap",
  "TLSWrap",
]);

export default defineRule({
  id: "LIMIT-05",
  level: "MUST",
  profile: "scale",
  since: "0.1.0",
  title:
    "Twenty runs in a row leave no more files, sockets, timers and listeners than one, however they end.",
  why: "What each run leaves behind is nothing in a test and the end of a service after a week: too many open files, a thousand timers, listeners that keep finished runs in memory.",
  fix: "Close in `finally` what a run opens, and take every listener off again: also when it fails, is cancelled, or its consumer goes away.",
  good: "process.on('SIGTERM', stop);\ntry { await read(); } finally { process.off('SIGTERM', stop); }",
  bad: "process.on('SIGTERM', stop); // with every run",
  notApplicable: (lab) =>
    lab.can("inside") ? undefined : "what happens inside of this target cannot be seen",
  async run(lab, report) {
    const works = await workToCancel(lab);
    if (works.length === 0)
      return report.missing(
        "No check, discover or read of this connector sends a request and succeeds, so that nothing could pile up. Record a read.",
      );
    for (const work of lab.sample(works, sampledWorks)) {
      const name = `${work.name}, ${runCount} times: ${endings(lab)
        .map((ending) => ending.name)
        .join(", ")} in turn`;
      report.checked(name);
      if ((await growthOf(lab, work, endings(lab))).size === 0) continue;
      // Which of them it is: one kind of run at a time.
      for (const ending of endings(lab)) {
        for (const [kind, more] of await growthOf(lab, work, [ending]))
          report.fail(
            `${work.name}, ${runCount / endings(lab).length} times ${ending.name}: there are ${more} more ${kind} than before. Expected: as many as before.`,
            messageEvidence("The run, undisturbed", work.whole, []),
          );
      }
    }
  },
});

/** Finds kinds of handles that grow by at least one for each run of an ending. */
async function growthOf(
  lab: Lab,
  work: CancelledWork,
  chosen: readonly RunEnding[],
): Promise<ReadonlyMap<string, number>> {
  const each = runCount / endings(lab).length;
  const runEach = async (times: number) => {
    for (let time = 0; time < times; time++)
      for (const ending of chosen) await lab.run(work.command, ending.runOptions(work));
  };
  await runEach(1);
  const before = await countAll();
  await runEach(each);
  const after = await countAll();
  const grown = [...after].map(([kind, count]) => [kind, count - (before.get(kind) ?? 0)] as const);
  return new Map(grown.filter(([, more]) => more >= each));
}

interface RunEnding {
  readonly name: string;
  runOptions(work: CancelledWork): RunOptions;
}

const endings = (lab: Lab): RunEnding[] => [
  { name: "to its end", runOptions: () => ({}) },
  {
    name: "failing",
    runOptions: () => ({
      provider: withAnswers(lab.learned.provider(), () => errorAnswer(lab, 404)),
    }),
  },
  {
    name: "cancelled",
    runOptions: ({ whole }) => ({
      cancel: { at: "request", index: Math.min(1, whole.exchanges.length - 1) },
      deadlineMs: cancelDeadlineMs,
    }),
  },
  {
    name: "with a consumer that goes away",
    runOptions: ({ whole }) => ({ stopAfter: Math.max(1, whole.messages.length - 2) }),
  },
];

/** Counts by kind, after what is no longer needed is gone. */
async function countAll(): Promise<ReadonlyMap<string, number>> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  heldBytes();
  const counts = new Map<string, number>();
  const add = (kind: string, count: number) => counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const kind of process.getActiveResourcesInfo())
    if (!passing.has(kind)) add(`open resources of the kind ${kind}`, 1);
  for (const name of process.eventNames())
    add(`listeners of the process for ${String(name)}`, process.listenerCount(name));
  add("open files and sockets", openFiles());
  return counts;
}

/** Linux shows them; elsewhere they are not counted. */
function openFiles(): number {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}
