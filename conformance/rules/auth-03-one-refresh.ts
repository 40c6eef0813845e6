import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  apiRequests,
  type OAuthRun,
  runWithTokens,
  tokenEvidence,
  undisturbed,
} from "../derive/auth/oauth-runs.ts";
import {
  findTokenEndpoint,
  missingTokenExchange,
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";

const lifeSeconds = 600;

export default defineRule({
  id: "AUTH-03",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "However many requests need a new access token at once, and however many streams are read, it is got by one refresh.",
  why: "Providers that rotate refresh tokens take two refreshes with the same one for theft and end the connection; others count tokens and block the account for the day.",
  fix: "Keep the access token for the whole run, and let requests that find a refresh under way wait for it.",
  good: "refreshing ??= refresh().finally(() => { refreshing = undefined; });\nreturn await refreshing;",
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
      if (run.server.uses.some(({ isRefused }) => isRefused))
        expectRefreshes(run, baseline + 1, "needs one new access token", report);
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
