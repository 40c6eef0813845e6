import type { Lab } from "../contract/lab.ts";
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
  type TokenEndpoint,
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";
import { holdRefusals } from "./auth-03.late-refusals.ts";

const lifeSeconds = 600;

export default defineRule({
  id: "AUTH-03",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "However many requests need a new access token at once or are refused after it was renewed, and however many streams are read, it is got by one refresh.",
  why: "Providers that rotate refresh tokens take two refreshes with the same one for theft and end the connection; others count tokens and block the account for the day. A slow request learns of the old token when the new one is there: that is no reason for another, for a logout, or for a page to be left out.",
  fix: "Keep the access token for the whole run, and let requests that find a refresh under way wait for it. When a request is refused, look whether its token is still the one in use: else send it again with the new one.",
  good: "if (token !== refused) return token;\nrefreshing ??= refresh().finally(() => { refreshing = undefined; });\nreturn await refreshing;",
  bad: "if (response.status === 401) token = await refresh(); // in each of many parallel requests",
  notApplicable: withoutOAuth,
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    if (!endpoint) return report.missing(missingTokenExchange);
    const whole = await undisturbed(lab, endpoint);
    expectRefreshes(whole, 1, "needs one access token", report);
    const baseline = whole.server.refreshes.length;
    // Every request that carries the old token is answered 401, whether it was sent before or after
    // the first of them.
    for (const at of await apiRequests(lab, endpoint, 12)) {
      const run = await runWithTokens(
        lab,
        endpoint,
        `the access token ended early, before request ${at + 1} of the API`,
        { revokeAt: at },
      );
      const refused = run.server.uses.filter(({ isRefused }) => isRefused);
      if (refused.length === 0) continue;
      expectRefreshes(run, baseline + 1, "needs one new access token", report);
      // Only where others were under way can one be late.
      if (refused.length > 1) await tryLate(lab, endpoint, at, whole, report);
    }
    if (!lab.can("clock")) return;
    const slow = { at: "record", ms: (lifeSeconds + 60) * 1_000 } as const;
    expectRefreshes(
      await runWithTokens(lab, endpoint, "the access token ended by time", {
        lifeSeconds,
        runOptions: { slow },
      }),
      baseline + 1,
      "needs one new access token",
      report,
    );
  },
});

async function tryLate(
  lab: Lab,
  endpoint: TokenEndpoint,
  at: number,
  whole: OAuthRun,
  report: Reporter,
): Promise<void> {
  const gate = holdRefusals(endpoint, at);
  const run = await runWithTokens(
    lab,
    endpoint,
    `the access token ended early, before request ${at + 1} of the API, and slower requests are refused after it was renewed`,
    { revokeAt: at, runOptions: { onRequest: gate.pass } },
  );
  if (gate.heldCount() === 0) return;
  expectRefreshes(run, whole.server.refreshes.length + 1, "needs one new access token", report);
  const lacking = shortfall(lab, whole.observation, run.observation);
  if (lacking !== undefined && run.server.refreshes.length > whole.server.refreshes.length)
    report.fail(
      `${run.name}: the run does not go on with the new one: ${lacking}.`,
      tokenEvidence(run, (index) =>
        run.server.uses.some(({ request, isRefused }) => isRefused && request.index === index),
      ),
    );
}

function expectRefreshes(run: OAuthRun, most: number, need: string, report: Reporter): void {
  report.checked(run.name);
  const { refreshes, uses } = run.server;
  if (refreshes.length <= most) return;
  const refused = uses.filter(({ isRefused }) => isRefused).length;
  report.fail(
    `${run.name}: the run ${need}, and sent ${refreshes.length} requests to the token endpoint instead of ${most}${refused > 1 ? `; ${refused} requests had been answered 401, each was followed by a refresh of its own` : ""}.`,
    tokenEvidence(run),
  );
}
