/** The single-fault sweep: each request of each recorded run in turn meets each fault, once. */
import type { GoldenRun, Lab } from "../contract/lab.ts";
import type { Answer, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";

export interface Fault {
  readonly name: string;
  /** A later try may succeed: the run may still end well. */
  readonly isTransient: boolean;
  apply(truth: Answer, nowMs: number): Answer;
}

export interface FaultRun {
  /** "campaigns, request 2 answered 500". */
  readonly name: string;
  readonly golden: GoldenRun;
  /** Index of the request that met the fault. */
  readonly at: number;
  readonly fault: Fault;
  readonly observation: Observation;
}

const json = { "content-type": "application/json" };
const page = "<!DOCTYPE html><html><head><title>Log in</title></head><body>Your session has ended.</body></html>";

/** The faults of an HTTP answer. The provider's own error bodies are used where they were recorded. */
export function faultsOf(lab: Pick<Lab, "answers">): readonly Fault[] {
  const status = (code: number, isTransient: boolean, headers: Readonly<Record<string, string>> = {}, suffix = ""): Fault => ({
    name: `answered ${code}${suffix}`,
    isTransient,
    apply() {
      const own = lab.answers?.answers[String(code)];
      const body = own?.body ?? JSON.stringify({ error: { code: String(code), message: "The request failed." } });
      return { status: code, headers: { ...json, ...own?.headers, ...headers }, body: Buffer.from(body) };
    },
  });
  const body = (name: string, text: string | ((truth: Answer) => string), headers = json): Fault => ({
    name,
    isTransient: false,
    apply: (truth) => ({ ...truth, status: 200, headers, body: Buffer.from(typeof text === "string" ? text : text(truth)) }),
  });
  return [
    status(400, false), status(401, false), status(403, false), status(404, false), status(410, false),
    status(429, true, { "retry-after": "7" }, " (Retry-After in seconds)"),
    {
      name: "answered 429 (Retry-After as a date)",
      isTransient: true,
      apply: (_, nowMs) => ({ status: 429, headers: { ...json, "retry-after": new Date(nowMs + 9_000).toUTCString() }, body: Buffer.from("{}") }),
    },
    status(429, true, { "retry-after": "soon" }, " (Retry-After unreadable)"),
    status(500, true), status(503, true),
    body("answered 200 with a web page", page, { "content-type": "text/html" }),
    body("answered 200 with an empty body", ""),
    body("answered 200 with an error inside", '{"ok":false,"error":{"code":"internal","message":"Something failed."},"errors":[{"message":"Something failed."}]}'),
    body("answered with JSON cut in half", ({ body: truth }) => truth.toString("utf8").slice(0, Math.max(1, truth.length >> 1))),
    { name: "broken by a reset", isTransient: true, apply: (truth) => ({ ...truth, fault: { type: "reset" } }) },
  ]; // biome-ignore format: a table
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

/** Runs that a default run samples. */
const sampledRuns = 120;

/** Done once for all rules. */
export function faultSweep(lab: Lab): Promise<readonly FaultRun[]> {
  return lab.once("single-fault sweep", async () => {
    const golden = (await lab.golden()).filter(({ recording }) => recording.outcome.status === "succeeded");
    const cases = golden.flatMap((run) =>
      run.observation.exchanges.flatMap(({ request }) => faultsOf(lab).map((fault) => ({ run, at: request.index, fault }))),
    );
    const runs: FaultRun[] = [];
    for (const { run, at, fault } of lab.sample(cases, sampledRuns)) {
      const nowMs = Date.parse(run.recording.metadata.clock_origin);
      const provider = withFault(lab.learned.provider(), at, fault, nowMs);
      const observation = await lab.run(lab.orderOf(run.recording), { provider });
      runs.push({ name: `${run.recording.name}, request ${at + 1} ${fault.name}`, golden: run, at, fault, observation });
    }
    return runs;
  });
}
