import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, RunOptions } from "../contract/lab.ts";
import type { TransportFault } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { isTokenExchange } from "../derive/requests/rate-limits.ts";
import { type CancelledWork, workToCancel } from "../derive/sweeps/cancels.ts";
import { withAnswers } from "../replay/strict.ts";

const sampledWorks = 3;
/**
 * Short, where they can be set. A loaded machine may meet them where nothing is wrong: then the run
 * tries again.
 */
const timeouts = { connectMs: 80, headersMs: 80, idleMs: 80, totalMs: 120 };
/** Real time for a target whose waits cost none, and for one that has no such clock. */
const deadlineMs = (lab: Lab) => (lab.can("clock") ? 12_000 : 120_000);
/**
 * A dripping answer: so many bytes, one at a time; ms of real and of virtual time for each. Five
 * hours in all.
 */
const drip = { bytes: 900, intervalMs: 1, virtualMs: 20_000 } as const;
/** Virtual time after which nobody can still be waiting for one answer by plan; ms. */
const mostMs = 3_600_000;

interface TimeoutCase {
  readonly name: string;
  readonly limit: string;
  readonly runOptions: RunOptions;
}

export default defineRule({
  id: "CANCEL-05",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Requests have timeouts for the connection, for the head, between pieces of the body and in all: a provider that falls silent fails the run.",
  why: "A server that accepts a request and says nothing more is the commonest outage there is. Without a timeout the sync stands still until somebody notices that yesterday's data is missing.",
  fix: "Bound each request by time as a whole and by silence, on the injected clock, and report the end of the tries as a transient failure.",
  good: "const timeout = clock.sleep(60_000, rested).then(() => controller.abort());\nawait fetch(url, { signal: controller.signal });",
  bad: "await fetch(url, { signal }); // waits as long as the server likes",
  notApplicable(lab) {
    if (!lab.can("faults")) return "faults cannot be put between this target and its provider";
    return lab.egress === "http"
      ? undefined
      : "a statement may take as long as the database needs; CHECK-05 tries connections that are never made";
  },
  async run(lab, report) {
    const works = await workToCancel(lab);
    if (works.length === 0)
      return report.missing(
        "No check, discover or read of this connector sends a request and succeeds, so that nothing can fall silent. Record a read.",
      );
    for (const [index, work] of lab.sample(works, sampledWorks).entries()) {
      const token = index === 0 ? work.whole.exchanges.findIndex(isTokenExchange) : -1;
      const places = new Set([
        Math.min(1, work.whole.exchanges.length - 1),
        ...(token >= 0 ? [token] : []),
      ]);
      const scenes = [
        ...(index === 0 ? [connecting] : []),
        ...[...places].flatMap((at) => scenesAt(lab, at)),
      ];
      for (const scene of scenes) {
        report.checked(`${work.name}, ${scene.name}`);
        // The next ones would only cost as much time.
        if (await isHanging(lab, work, scene, report)) return;
      }
    }
  },
});

const connecting: TimeoutCase = {
  name: "connections are never made",
  limit: "a timeout for connections",
  runOptions: { connection: { fault: "connect-hang" } },
};

/** The cases at the request with that index; the next try is answered. */
function scenesAt(lab: Lab, at: number): TimeoutCase[] {
  const scene = (name: string, limit: string, fault: TransportFault, padding = 0): TimeoutCase => ({
    name: `${name}, at request ${at + 1}`,
    limit,
    runOptions: {
      transport: "server",
      provider: withAnswers(lab.learned.provider(), (answer, { index }) =>
        index === at
          ? { ...answer, body: Buffer.concat([answer.body, Buffer.alloc(padding, " ")]), fault }
          : answer,
      ),
    },
  });
  const { bytes, intervalMs, virtualMs } = drip;
  return [
    scene("no answer comes", "a timeout for the head", { type: "hang" }),
    scene("the body stops in its middle", "a timeout between pieces of the body", {
      type: "stall",
    }),
    // Where the clock is a real one, a timeout of minutes cannot be waited for.
    ...(lab.can("clock")
      ? [
          scene(
            "the body drips for hours",
            "a timeout for the request as a whole",
            { type: "slow-loris", intervalMs, virtualMs },
            bytes,
          ),
        ]
      : []),
  ];
}

async function isHanging(
  lab: Lab,
  { name, command }: CancelledWork,
  { name: scene, limit, runOptions }: TimeoutCase,
  report: Reporter,
): Promise<boolean> {
  const seen = await lab.run(command, { timeouts, deadlineMs: deadlineMs(lab), ...runOptions });
  const evidence = [
    exchangeEvidence("Requests", seen.exchanges.slice(0, 20)),
    messageEvidence("Messages", seen, []),
  ];
  if (seen.outcome.status === "hung") {
    report.fail(
      `${name}, while ${scene}: it had not ended after ${Math.round((deadlineMs(lab) * lab.slowness) / 1_000)} s${lab.can("clock") ? ", though its waits take no time here" : ""}. Expected: ${limit}, and a failure.`,
      ...evidence,
    );
    return true;
  }
  const longestMs = longestDrip(seen);
  if (longestMs > mostMs)
    report.fail(
      `${name}, while ${scene}: it waited ${Math.round(longestMs / 60_000)} minutes for the last byte of an answer. Expected: ${limit}.`,
      ...evidence,
    );
  return false;
}

/** Virtual time until a dripping answer had been taken to its end. */
function longestDrip({ exchanges }: Observation): number {
  const whole = exchanges.filter(
    ({ answer, isAbandoned }) => answer?.fault?.type === "slow-loris" && isAbandoned !== true,
  );
  return Math.max(0, ...whole.map(({ answer }) => (answer?.body.length ?? 0) * drip.virtualMs));
}
