import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { ownStatements } from "../derive/database/faults.ts";
import { isTokenExchange } from "../derive/requests/rate-limits.ts";
import {
  type CancelScene,
  cancelDeadlineMs,
  databaseScenesOf,
  lateMs,
  scenesOf,
  whileConnecting,
  workToCancel,
} from "../derive/sweeps/cancels.ts";

/** Reads that a default run cancels everywhere; the others have the same way to the provider. */
const sampledWorks = 3;

export default defineRule({
  id: "CANCEL-02",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A cancelled run settles within a second, wherever it is, and gives up the request that is under way.",
  why: "Who presses Cancel and waits for minutes kills the process. What goes on behind the scenes holds a connection, uses quota, and meets the next run of the same account.",
  fix: "Hand the signal to every request and every wait, and let go of the body that is being read.",
  good: "await fetch(url, { signal });\nawait clock.sleep(delayMs, signal);",
  bad: "await fetch(url);\nawait clock.sleep(delayMs); // goes on sleeping",
  notApplicable(lab) {
    if (!lab.can("cancel")) return "runs of this target cannot be cancelled";
    if (!lab.can("faults")) return "faults cannot be put between this target and its provider";
    return undefined;
  },
  async run(lab, report) {
    const works = await workToCancel(lab);
    if (works.length === 0)
      return report.missing(
        "No check, discover or read of this connector sends a request and succeeds, so that nothing can be cancelled. Record a read.",
      );
    for (const [index, work] of lab.sample(works, sampledWorks).entries()) {
      const { exchanges, traces } = work.whole;
      // A later page where there is one, and a token where one is fetched; of a database also the
      // last statement.
      const count = traces.queries.length;
      const places = lab.database
        ? new Set([ownStatements, Math.floor(count / 2), count - 1])
        : new Set([Math.min(exchanges.length - 1, 1), exchanges.findIndex(isTokenExchange)]);
      const scenes = [
        ...(index === 0 ? [whileConnecting] : []),
        ...[...places]
          .filter((at) => at >= 0)
          .flatMap((at) => (lab.database ? databaseScenesOf(work, at) : scenesOf(lab, work, at))),
      ];
      for (const scene of scenes) {
        const seen = await lab.run(work.command, scene.runOptions);
        // The moment did not come: a body too short to be stopped in, a refusal that is not waited
        // for.
        if (!seen.cancelledAt && seen.outcome.status !== "hung") continue;
        report.checked(`${work.name}, ${scene.name}`);
        judge(`${work.name}, cancelled ${scene.name}`, scene, seen, report, lab.slowness);
        if (seen.outcome.status === "hung") return; // The next ones would only cost as much time.
      }
    }
  },
});

function judge(
  name: string,
  scene: CancelScene,
  seen: Observation,
  report: Reporter,
  slowness: number,
): void {
  const { outcome, traces, exchanges, cancelledAt } = seen;
  const evidence = [
    exchangeEvidence("Requests", exchanges.slice(0, 20)),
    messageEvidence(
      "Messages",
      seen,
      cancelledAt ? [Math.min(cancelledAt.messageCount, seen.messages.length) - 1] : [],
    ),
  ];
  const { settledAfterMs = 0, openRequests = 0 } = traces;
  if (outcome.status === "hung")
    report.fail(
      `${name}, had not ended ${cancelDeadlineMs / 1_000} s after it began. Expected: within a second.`,
      ...evidence,
    );
  else if (settledAfterMs > lateMs * slowness)
    report.fail(
      `${name}, settled after ${Math.round(settledAfterMs)} ms. Expected: within a second.`,
      ...evidence,
    );
  if (openRequests > 0 && scene !== whileConnecting)
    report.fail(
      `${name}, left ${openRequests === 1 ? `its ${seen.traces.queries.length > 0 ? "session" : "request"}` : `${openRequests} requests`} open when it had ended. Expected: the connection is closed.`,
      ...evidence,
    );
}
