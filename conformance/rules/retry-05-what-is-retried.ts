import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab, RunOptions } from "../contract/lab.ts";
import type { Answer, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  type RequestPlace,
  requestKey,
  requestPlaces,
  triesOf,
} from "../derive/requests/rate-limits.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

const passing = [408, 425, 429, 500, 502, 503, 504];
const lasting = [400, 402, 403, 404, 405, 409, 410, 422];
const sampled = { passing: 3, lasting: 3 };
/** Short, and long enough for a loaded machine; ms. */
const timeouts = { connectMs: 1_000, headersMs: 300, idleMs: 300, totalMs: 300 };
/** CANCEL-05 reports a connector without a timeout. */
const deadlineMs = 3_000;

export default defineRule({
  id: "RETRY-05",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Requests that only read are tried again after 408, 425, 429, 5xx, a reset and a timeout, and after no other 4xx; a POST only when it is declared safe.",
  why: "One 502 in an hour of reading must not cost the hour. A 404 that is tried again five times costs the account's limit, and a POST that is tried again may write twice.",
  fix: "Retry by one table of statuses and by method. List POST requests that only read under capabilities.safe_posts in conformance.yaml (in svc: egress isPostSafe).",
  good: "const isPassing = [408, 425, 429].includes(status) || status >= 500;",
  bad: "if (status === 500 || status === 503) retry(); // 502 and 504 end the sync",
  notApplicable: (lab: Lab) =>
    lab.egress === "http" ? undefined : "this connector speaks to a database",
  async run(lab, report) {
    const places = await requestPlaces(lab);
    const safe = places.filter(({ exchange }) => isRepeatable(lab, exchange.request));
    // Where no clock can be moved on, each try costs real seconds.
    const share = lab.can("clock") ? 1 : 0;
    for (const status of passing)
      for (const place of lab.sample(safe, Math.max(1, share * sampled.passing)))
        await mustRetry(lab, report, place, `answered ${status}`, errorAnswer(lab, status));
    const transport = transportOf(lab);
    for (const place of safe.slice(-1)) {
      const truth = place.exchange.answer ?? errorAnswer(lab, 500);
      const way = transport === "server" ? " on a real connection" : "";
      await mustRetry(
        lab,
        report,
        place,
        `broken by a reset${way}`,
        { ...truth, fault: { type: "reset" } },
        { transport, timeouts },
      );
      if (lab.can("clock"))
        await mustRetry(
          lab,
          report,
          place,
          `never answered${way}`,
          { ...truth, fault: { type: "hang" } },
          { transport, timeouts, deadlineMs },
        );
    }
    for (const status of lasting)
      for (const place of lab.sample(places, Math.max(1, share * sampled.lasting)))
        await mustNotRetry(lab, report, place, `answered ${status}`, errorAnswer(lab, status));
    const unsafe = places.filter(({ exchange }) => !isRepeatable(lab, exchange.request));
    for (const place of lab.sample(unsafe, sampled.passing)) {
      await mustNotRetry(lab, report, place, "answered 500", errorAnswer(lab, 500));
      await mustNotRetry(lab, report, place, "broken by a reset", {
        ...errorAnswer(lab, 500),
        fault: { type: "reset" },
      });
    }
  },
});

/**
 * On real connections the clock must not be moved on while they are made: that needs a connector
 * whose timeouts the host keeps.
 */
const transportOf = (lab: Lab) =>
  lab.can("faults") && lab.manifest !== undefined ? "server" : "replay";

function isRepeatable(
  lab: Lab,
  { method, url }: { readonly method: string; readonly url: URL },
): boolean {
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return true;
  const isDeclared =
    lab.manifest?.egress.kind === "http" && lab.manifest.egress.isPostSafe === true;
  return (
    method === "POST" && (isDeclared || lab.settings.capabilities.safe_posts.includes(url.pathname))
  );
}

async function mustRetry(
  lab: Lab,
  report: Reporter,
  place: RequestPlace,
  what: string,
  fault: Answer,
  more: RunOptions = {},
): Promise<void> {
  const name = `${place.name} ${what}`;
  report.checked(name);
  const observation = await meetOnce(lab, place, fault, more);
  const tries = triesOf(observation, place.at);
  if (tries.length > 1 || observation.outcome.status === "hung") return;
  const { status, failures } = observation.outcome;
  report.fail(
    `${name}: it was not tried again; the run ${status}${failures[0] ? ` ("${failures[0].message}")` : ""}. Expected: the same request once more, after a wait.`,
    exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
  );
}

async function mustNotRetry(
  lab: Lab,
  report: Reporter,
  place: RequestPlace,
  what: string,
  fault: Answer,
): Promise<void> {
  const { method } = place.exchange.request;
  const name = `${place.name} (${method}) ${what}`;
  report.checked(name);
  // A connector may ask once more whether a thing is really gone: then it stays gone.
  const isGone = [404, 410].includes(fault.status);
  const observation = await (isGone ? meetForEver(lab, place, fault) : meetOnce(lab, place, fault));
  const tries = triesOf(observation, place.at);
  // The same request may belong to the run more than once.
  const own = triesOf(place.whole, place.at).length;
  if (tries.length <= own + (isGone ? 1 : 0)) return;
  const why = isRepeatable(lab, place.exchange.request)
    ? "that answer does not change"
    : `a ${method} that is not declared safe may act twice`;
  report.fail(
    `${name}: it was tried again, though ${why}.`,
    exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
  );
}

/** The request and every one like it. */
function meetForEver(
  lab: Lab,
  { command, at, exchange }: RequestPlace,
  fault: Answer,
): Promise<Observation> {
  const truth = lab.learned.provider();
  const key = requestKey(exchange.request);
  const isMet = (request: ProviderRequest) => request.index >= at && requestKey(request) === key;
  return lab.run(command, {
    provider: {
      answer: (request) => (isMet(request) ? fault : truth.answer(request)),
      unused: () => [],
    },
  });
}

function meetOnce(
  lab: Lab,
  { command, at }: RequestPlace,
  fault: Answer,
  more: RunOptions = {},
): Promise<Observation> {
  const truth = lab.learned.provider();
  return lab.run(command, {
    ...more,
    provider: {
      answer: (request) => (request.index === at ? fault : truth.answer(request)),
      unused: () => [],
    },
  });
}
