/** The single-fault sweep: each request of each recorded run in turn meets each fault, once. */

import type { GoldenRun, Lab } from "../../contract/lab.ts";
import type { Answer, Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { databaseFaultSweep } from "../database/faults.ts";
import { undisturbed } from "../rows/losses.ts";

export interface Fault {
  readonly name: string;
  /** status: an answer other than 2xx · body: a 200 that is none · connection: no answer at all. */
  readonly kind: "status" | "body" | "connection";
  /** A later try may succeed: the run may still end well. */
  readonly isTransient: boolean;
  /** @param nowMs what the connector's clock says when it asks */
  apply(truth: Answer, nowMs: number): Answer;
}

export interface FaultRun {
  /** "campaigns, request 2 answered 500". */
  readonly name: string;
  readonly golden: GoldenRun;
  /** The same command without a fault. */
  readonly undisturbed: Observation;
  /** Index of the request that met the fault. */
  readonly at: number;
  readonly fault: Fault;
  readonly observation: Observation;
}

const json = { "content-type": "application/json" };
const page =
  "<!DOCTYPE html><html><head><title>Log in</title></head><body>Your session has ended.</body></html>";
/** Enough for a loaded machine, and short where a run waits for an answer that never comes; ms. */
const hangTimeouts = { connectMs: 1_000, headersMs: 300, idleMs: 300, totalMs: 300 };
/** A connector that has no timeout of its own is not waited for: CANCEL-05 says so. */
const hangDeadlineMs = 3_000;

/** A refusal as this provider words it, where one was recorded; else in the commonest form. */
export function errorAnswer(
  lab: Pick<Lab, "answers">,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const own = lab.answers?.answers[String(status)];
  const body =
    own?.body ??
    JSON.stringify({ error: { code: String(status), message: "The request failed." } });
  return { status, headers: { ...json, ...own?.headers, ...headers }, body: Buffer.from(body) };
}

/**
 * The faults of an HTTP answer. The provider's own error bodies are used where they were recorded.
 */
export function faultsOf(lab: Pick<Lab, "answers">): readonly Fault[] {
  const status = (
    code: number,
    isTransient: boolean,
    headers: Readonly<Record<string, string>> = {},
    suffix = "",
  ): Fault => ({
    name: `answered ${code}${suffix}`,
    kind: "status",
    isTransient,
    apply: () => errorAnswer(lab, code, headers),
  });
  const body = (
    name: string,
    text: string | ((truth: Answer) => string),
    headers = json,
  ): Fault => ({
    name,
    kind: "body",
    isTransient: false,
    apply: (truth) => ({
      ...truth,
      status: 200,
      headers,
      body: Buffer.from(typeof text === "string" ? text : text(truth)),
    }),
  });
  const connection = (name: string, type: "reset" | "hang"): Fault => ({
    name,
    kind: "connection",
    isTransient: true,
    apply: (truth) => ({ ...truth, fault: { type } }),
  });
  return [
    status(400, false),
    status(401, false),
    status(403, false),
    status(404, false),
    status(410, false),
    status(429, true, { "retry-after": "7" }, " (Retry-After in seconds)"),
    {
      ...status(429, true, {}, " (Retry-After as a date)"),
      apply: (_, nowMs) =>
        errorAnswer(lab, 429, { "retry-after": new Date(nowMs + 9_000).toUTCString() }),
    },
    status(429, true, { "retry-after": "soon" }, " (Retry-After unreadable)"),
    status(500, true),
    status(503, true),
    body("answered 200 with a web page", page, { "content-type": "text/html" }),
    body("answered 200 with an empty body", ""),
    body(
      "answered 200 with an error inside",
      '{"ok":false,"error":{"code":"internal","message":"Something failed."},"errors":[{"message":"Something failed."}]}',
    ),
    body("answered with JSON cut in half", ({ body: truth }) =>
      truth.toString("utf8").slice(0, Math.max(1, truth.length >> 1)),
    ),
    connection("broken by a reset", "reset"),
    connection("never answered", "hang"),
  ];
}

/** The provider, except that the request with that index meets the fault. */
export function withFault(provider: Provider, at: number, fault: Fault, nowMs: number): Provider {
  return {
    answer(request) {
      const truth = provider.answer(request);
      if (request.index !== at) return truth;
      return "unmatched" in truth ? truth : fault.apply(truth, nowMs);
    },
    unused: () => [],
  };
}

/**
 * Requests that each kind of fault meets in a default run: refusals, where connectors differ most,
 * those of a small recording all.
 */
const sampledPlaces = { refusal: 20, other: 6, hang: 2 };

/** Requests that meet some failure that passes, whichever: what is lost may depend on the place. */
const spreadPlaces = 24;

/** Where waits take real time: the first and the last. */
const placesInRealTime = 2;

/**
 * Done once for all rules. Every kind of fault has its own sample, so that each is met however much
 * is sampled.
 */
export function faultSweep(lab: Lab): Promise<readonly FaultRun[]> {
  return lab.once("single-fault sweep", async () => {
    const golden = (await lab.golden()).filter(
      ({ recording }) => recording.outcome.status === "succeeded",
    );
    if (lab.database) return await databaseFaultSweep(lab, golden);
    const runs: FaultRun[] = [];
    const places = golden.flatMap((run) => run.observation.exchanges.map((_, at) => ({ run, at })));
    const faults = faultsOf(lab);
    const passing = faults.filter(({ isTransient, kind }) => isTransient && kind === "status");
    const spread = lab.sample(places, spreadPlaces);
    for (const fault of faults) {
      const isHang = fault.name === "never answered";
      // Only where the waits of the connector do not take real time.
      if (isHang && !lab.can("clock")) continue;
      const most = isHang
        ? sampledPlaces.hang
        : fault.isTransient || fault.kind === "body"
          ? sampledPlaces.other
          : sampledPlaces.refusal;
      const chosen = lab.sample(places, lab.can("clock") ? most : placesInRealTime);
      const turn = passing.indexOf(fault);
      const own = spread.filter((_, index) => index % passing.length === turn);
      for (const place of places)
        if (chosen.includes(place) || own.includes(place))
          runs.push(await meet(lab, place.run, place.at, fault, isHang));
    }
    return runs;
  });
}

async function meet(
  lab: Lab,
  golden: GoldenRun,
  at: number,
  fault: Fault,
  isHang: boolean,
): Promise<FaultRun> {
  const { recording } = golden;
  const whole = await undisturbed(lab, recording);
  const nowMs = whole.exchanges[at]?.atMs ?? Date.parse(recording.metadata.clock_origin);
  const observation = await lab.run(lab.commandOf(recording), {
    provider: withFault(lab.learned.provider(), at, fault, nowMs),
    ...(isHang ? { timeouts: hangTimeouts, deadlineMs: hangDeadlineMs } : {}),
  });
  return {
    name: `${recording.name}, request ${at + 1} ${fault.name}`,
    golden,
    undisturbed: whole,
    at,
    fault,
    observation,
  };
}
