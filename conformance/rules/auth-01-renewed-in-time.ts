import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  apiRequests,
  type OAuthRun,
  runWithTokens,
  shortfall,
  tokenEvidence,
  undisturbed,
} from "../derive/auth/oauth-runs.ts";
import {
  findTokenEndpoint,
  missingTokenExchange,
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";

/** Any margin that deserves the name is larger. */
const marginMs = 1_500;
const lifeSeconds = 600;
/** Shorter than the wait that the provider asks for between two tries. */
const shortLifeSeconds = 100;
const waitSeconds = 120;

export default defineRule({
  id: "AUTH-01",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "An access token is renewed before it ends, and once when the provider refuses it in the middle of a sync.",
  why: "Access tokens live for minutes, first syncs for hours. A connector that renews too late, or not at all, fails in the middle of every large sync.",
  fix: "Ask for the token at every try of every request; renew it some time before expires_in is over, and once more when a request is answered 401.",
  good: "const token = await tokens.valid(); // for each try: renews when less than a minute is left",
  bad: "const headers = { authorization: 'Bearer ' + (await login()) }; // once per stream",
  notApplicable: withoutOAuth,
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    if (!endpoint) return report.missing(missingTokenExchange);
    const whole = await undisturbed(lab, endpoint);

    if (lab.can("clock")) {
      const slow = (seconds: number) =>
        ({
          command: whole.observation.command,
          runOptions: { slow: { at: "record", ms: seconds * 1_000 } },
        }) as const;
      const ending = await runWithTokens(
        lab,
        endpoint,
        `a token with 1 of ${lifeSeconds} seconds left`,
        {
          lifeSeconds,
          ...slow(lifeSeconds - 1),
        },
      );
      const ended = await runWithTokens(lab, endpoint, `a token that ended a minute ago`, {
        lifeSeconds,
        ...slow(lifeSeconds + 60),
      });
      const tooMany = {
        status: 429,
        headers: { "content-type": "application/json", "retry-after": String(waitSeconds) },
        body: Buffer.from(lab.answers?.answers["429"]?.body ?? "{}"),
      };
      const retried = await runWithTokens(
        lab,
        endpoint,
        `a token that ends while a request waits to be tried again`,
        {
          lifeSeconds: shortLifeSeconds,
          apiAnswer: (count) => (count === 0 ? tooMany : undefined),
        },
      );
      for (const run of [ending, ended, retried]) lookForOldTokens(run, report);
    }
    const refused = lab.answers?.answers["401"];
    if (!refused || refused.synthetic)
      report.untried(
        "the words with which this provider refuses a token that has ended: its 401 is not recorded (svc record does so in check-unauthenticated; the answer goes to answers.yaml)",
      );
    for (const at of await apiRequests(lab, endpoint, 4)) {
      const run = await runWithTokens(lab, endpoint, `request ${at + 1} of the API answered 401`, {
        revokeAt: at,
      });
      if (!run.server.uses.some(({ isRefused }) => isRefused)) continue;
      report.checked(run.name);
      const lacking = shortfall(lab, whole.observation, run.observation);
      if (lacking !== undefined)
        report.fail(
          `After ${run.name} because its token had been ended early, the run does not go on with a new one: ${lacking}.`,
          tokenEvidence(run, (index) =>
            run.server.uses.some(({ request, isRefused }) => isRefused && request.index === index),
          ),
        );
    }
    // Of one stream: several may send the same request.
    const [stream] = lab.streams.filter(({ recording }) => recording);
    const command = stream ? lab.readCommand([stream]) : whole.observation.command;
    lookForEndlessRenewal(
      await runWithTokens(lab, endpoint, "every request of the API answered 401", {
        command,
        refusesAll: true,
      }),
      report,
    );
  },
});

function lookForOldTokens(run: OAuthRun, report: Reporter): void {
  if (run.server.uses.length > 0) report.checked(run.name);
  const old = run.server.uses.find(({ leftMs }) => leftMs <= marginMs);
  if (!old) return;
  const { request, leftMs } = old;
  const state =
    leftMs > 0
      ? `${leftMs / 1_000} s before its token ends`
      : `${Math.round(-leftMs / 1_000)} s after its token had ended`;
  report.fail(
    `${run.name}: request ${request.index + 1} (${request.method} ${request.url.pathname}) was sent ${state}. expires_in had said so; the token should have been renewed first.`,
    tokenEvidence(run, (index) => index === request.index),
  );
}

/** A new token that is refused as well shows that the token is not what is wrong. */
function lookForEndlessRenewal(run: OAuthRun, report: Reporter): void {
  report.checked(run.name);
  const sent = Map.groupBy(
    run.server.uses,
    ({ request }) => `${request.method} ${request.url.pathname}${request.url.search}`,
  );
  for (const [what, uses] of sent)
    if (uses.length > 2)
      report.fail(
        `${what} was sent ${uses.length} times although each new token was refused as well: renew once, then fail with an auth error.`,
        tokenEvidence(run),
      );
  const { status } = run.observation.outcome;
  if (status !== "failed")
    report.fail(
      `Every request was answered 401, and the run ended as ${status}; it should fail with an auth error.`,
      tokenEvidence(run),
    );
}
