import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { isOfClass, type Lab } from "../contract/lab.ts";
import type { Answer, Provider } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { isTokenRequest } from "../derive/auth/credentials.ts";
import { refusalProblem, refusedLogins } from "../derive/database/refusals.ts";
import { ownErrors } from "../derive/requests/own-errors.ts";
import { requestPlaces } from "../derive/requests/rate-limits.ts";
import { withAnswers } from "../replay/strict.ts";
import { dataDenial } from "./check-04.data-denied.ts";

export default defineRule({
  id: "CHECK-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "check fails as a matter of credentials when the provider answers every request with 401 or 403, or refuses what every stream needs; or a database refuses the login.",
  why: "A check that always succeeds lets a wrong token be saved; the user learns of it from the first failed sync, hours later. A token may be allowed to ask who it is, and to read nothing.",
  fix: "Ask for a row of a stream, as a read does; report 401 as auth and 403 as permission. One stream of several may stay forbidden: its read fails by its name.",
  good: "await get('/notes?limit=1'); // 401: auth, 403: permission",
  bad: "await get('/me'); // the token exists: it may still read nothing",
  async run(lab, report) {
    if (lab.database) return await tryLogins(lab, report);
    await tryEndpoints(lab, report);
    await tryData(lab, report);
    const golden = (await lab.golden()).filter(({ recording }) => recording.run.verb === "check");
    const hasTokens = golden.some(({ observation }) =>
      observation.exchanges.some(({ request }) => isTokenRequest(request)),
    );
    for (const status of [401, 403]) {
      const scenes = [
        {
          name: `every request answered ${status}`,
          provider: withAnswers(lab.learned.provider(), () => refusal(lab, status)),
        },
        ...(hasTokens
          ? [
              {
                name: `every request but those for tokens answered ${status}`,
                provider: sparingTokens(lab, status),
              },
            ]
          : []),
      ];
      for (const { name, provider } of scenes) {
        report.checked(name);
        const seen = await lab.run({ verb: "check", config: lab.config }, { provider });
        const problem = problemOf(seen, lab);
        if (problem !== undefined)
          report.fail(
            `With ${name}, check ${problem}.`,
            exchangeEvidence("Requests", seen.exchanges, () => true),
            messageEvidence("Messages", seen, []),
          );
      }
    }
  },
});

/**
 * Each endpoint that check asks is forbidden, and the others are not: the right to read. Where some
 * stream can be read all the same, check may say so and succeed.
 */
async function tryEndpoints(lab: Lab, report: Reporter): Promise<void> {
  const places = (await requestPlaces(lab)).filter(
    ({ command, whole }) => command.verb === "check" && whole.outcome.status === "succeeded",
  );
  const endpoints = Map.groupBy(
    places,
    ({ exchange: { request } }) => `${request.method} ${request.url.origin}${request.url.pathname}`,
  );
  // One endpoint alone is what every request is answered with 403 for.
  if (endpoints.size < 2) return;
  const denial = await dataDenial(lab);
  for (const [endpoint, [place]] of endpoints) {
    if (!place) continue;
    const name = `only ${endpoint} answered 403`;
    report.checked(name);
    const provider = withAnswers(lab.learned.provider(), (answer, { method, url }) =>
      `${method} ${url.origin}${url.pathname}` === endpoint ? refusal(lab, 403) : answer,
    );
    const seen = await lab.run(place.command, { provider });
    if (hasSucceeded(seen) && denial && !denial.isNeededByAll(place.exchange.request)) continue;
    const problem = problemOf(seen, lab);
    if (problem !== undefined)
      report.fail(
        `With ${name}, check ${problem}.`,
        exchangeEvidence("Requests", seen.exchanges, ({ answer }) => answer?.status === 403),
        messageEvidence("Messages", seen, []),
      );
  }
}

interface Refused {
  readonly name: string;
  readonly answer: Answer;
  /** It is no word of credentials: that check fails is enough. */
  readonly isOfAnyClass?: boolean;
}

const json = { "content-type": "application/json" };

/** No stream can be read; what check asks besides is answered as ever. */
async function tryData(lab: Lab, report: Reporter): Promise<void> {
  const denial = await dataDenial(lab);
  if (!denial) return;
  const { endpoints, allowed, isDenied } = denial;
  const [own] = ownErrors(lab);
  const answers: readonly Refused[] = [
    ...[403, 401].map((status) => ({ name: String(status), answer: refusal(lab, status) })),
    // As providers do that do not say what there is to those who may not read it.
    { name: "404", answer: refusal(lab, 404), isOfAnyClass: true },
    {
      name: "200 with an empty body",
      answer: { status: 200, headers: json, body: Buffer.alloc(0) },
      isOfAnyClass: true,
    },
    ...(own
      ? [
          {
            name: `200 with ${JSON.stringify(own)}`,
            answer: {
              status: 200,
              headers: json,
              body: Buffer.from(JSON.stringify(own)),
            },
            isOfAnyClass: true,
          },
        ]
      : []),
  ];
  for (const { name: what, answer: refused, isOfAnyClass = false } of answers) {
    // Where check asks for nothing else, every request is answered so: the scenes above all.
    if (allowed.length === 0 && !isOfAnyClass) continue;
    const name = `${endpointsText(endpoints)} answered ${what}, so that no stream can be read`;
    report.checked(name);
    const provider = withAnswers(lab.learned.provider(), (answer, request) =>
      isDenied(request) ? refused : answer,
    );
    const seen = await lab.run({ verb: "check", config: lab.config }, { provider });
    const problem =
      isOfAnyClass && seen.outcome.status === "failed" ? undefined : problemOf(seen, lab);
    if (problem === undefined) continue;
    const isRefused = seen.exchanges.some(({ request }) => isDenied(request));
    const goesOn = hasSucceeded(seen) ? " It asks for them, and goes on when it is refused." : "";
    const why = isRefused
      ? goesOn
      : ` It asks for ${endpointsText(allowed)}, which may be allowed to a token that can read nothing.`;
    report.fail(
      `With ${name}, check ${problem}.${why}`,
      exchangeEvidence("Requests", seen.exchanges, ({ request }) => isDenied(request)),
      messageEvidence("Messages", seen, []),
    );
    if (!isRefused) return;
  }
}

const endpointsText = (endpoints: readonly string[]) =>
  endpoints.length > 3
    ? `${endpoints.slice(0, 3).join(", ")} and ${endpoints.length - 3} more`
    : endpoints.join(", ");

async function tryLogins(lab: Lab, report: Reporter): Promise<void> {
  for (const { name, command, runOptions, expected } of await refusedLogins(lab)) {
    report.checked(name);
    const seen = await lab.run(command, runOptions);
    const problem = refusalProblem(seen, expected);
    if (problem !== undefined)
      report.fail(`When ${name}, check ${problem}.`, messageEvidence("Messages", seen, []));
  }
}

function refusal(lab: Lab, status: number): Answer {
  const own = lab.answers?.answers[String(status)];
  const body =
    own?.body ??
    JSON.stringify({
      error: { code: String(status), message: status === 401 ? "Unauthorized" : "Forbidden" },
    });
  return {
    status,
    headers: { ...json, ...own?.headers },
    body: Buffer.from(body),
  };
}

const sparingTokens = (lab: Lab, status: number): Provider =>
  withAnswers(lab.learned.provider(), (answer, request) =>
    isTokenRequest(request) ? answer : refusal(lab, status),
  );

function hasSucceeded({ outcome, messages }: Observation): boolean {
  const result = messages
    .flatMap(({ message }) =>
      message.type === "CONNECTION_STATUS" ? [message.connectionStatus.status] : [],
    )
    .at(-1);
  return outcome.status === "succeeded" || result === "SUCCEEDED";
}

function problemOf(seen: Observation, lab: Lab): string | undefined {
  const { outcome, exchanges } = seen;
  if (hasSucceeded(seen))
    return exchanges.length === 0
      ? "succeeded: it sends no request at all"
      : "succeeded; it has to fail";
  if (outcome.status !== "failed") return `${outcome.status}; it has to fail with a reason`;
  const [failure] = outcome.failures;
  if (!failure) return "failed without a reason";
  // A plain FAILED carries no class: ERROR-01 asks for one.
  if (outcome.failures.some((one) => isOfClass(one, "auth", "permission"))) return undefined;
  if (failure.classes.length === 0 && !lab.can("classes")) return undefined;
  return `failed with "${failure.message}" as ${failure.classes.join(" or ") || "no class"}; auth or permission is expected`;
}
