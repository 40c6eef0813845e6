import type { JsonObject, JsonValue } from "svc-connectors";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  type OAuthRun,
  runWithTokens,
  shortfall,
  tokenEvidence,
  undisturbed,
} from "../derive/auth/oauth-runs.ts";
import {
  findTokenEndpoint,
  missingTokenExchange,
  parseObject,
  rewriteTokens,
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";
import { refusedGrant } from "../derive/auth/token-server.ts";

const skewMs = 300_000;
const lifeSeconds = 600;
/** A loop of refreshes is broken off here, so that its run ends. */
const loopLimit = 40;

/** `once`: nothing in the answer says that the token has ended, so one refresh serves the run. */
const variants: readonly {
  readonly name: string;
  readonly expiresIn: JsonValue;
  readonly once: boolean;
}[] = [
  { name: "no expires_in", expiresIn: null, once: true },
  { name: 'expires_in as text ("3600")', expiresIn: "3600", once: true },
  { name: "expires_in 0", expiresIn: 0, once: false },
  { name: "a negative expires_in", expiresIn: -1, once: false },
];

export default defineRule({
  id: "AUTH-05",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "Token answers with expires_in missing, as text, 0 or negative are coped with, and so is a clock that is five minutes wrong.",
  why: "RFC 6749 makes expires_in optional, and providers send all of these. NaN compares false with everything: the result is a refresh for each request, or a token that is never renewed.",
  fix: "Read expires_in as a number; without a positive one, use the token until it is refused. Count from your own clock when the answer came, never from the provider's.",
  good: "const seconds = Number(expires_in); const endsAt = seconds > 0 ? now + seconds * 1000 : undefined;",
  bad: "const isFresh = now < obtainedAt + expires_in * 1000; // false for ever when it is missing",
  notApplicable: withoutOAuth,
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    if (!endpoint) return report.missing(missingTokenExchange);
    const whole = await undisturbed(lab, endpoint);
    const tokenAnswer = (count: number) => (count < loopLimit ? undefined : refusedGrant);
    const expectWhole = (run: OAuthRun) => {
      report.checked(run.name);
      const lacking = shortfall(lab, whole.observation, run.observation);
      if (lacking !== undefined)
        report.fail(`${run.name}: the run does not get through: ${lacking}.`, tokenEvidence(run));
    };

    for (const { name, expiresIn, once } of variants) {
      const run = await runWithTokens(lab, endpoint, `a token answer with ${name}`, {
        expiresIn,
        tokenAnswer,
      });
      expectWhole(run);
      const most = once ? Math.max(1, whole.server.refreshes.length) : whole.server.uses.length + 1;
      expectRefreshes(run, most, report);
    }
    if (!lab.can("clock")) return;

    const slow = { at: "record", ms: (lifeSeconds + 60) * 1_000 } as const;
    const asNumber = await runWithTokens(lab, endpoint, "expires_in as a number", {
      lifeSeconds,
      runOptions: { slow },
    });
    const asText = await runWithTokens(
      lab,
      endpoint,
      `a token with expires_in "${lifeSeconds}" that has ended`,
      {
        lifeSeconds,
        expiresIn: String(lifeSeconds),
        runOptions: { slow },
      },
    );
    report.checked(asText.name);
    const old = asText.server.uses.find(({ leftMs }) => leftMs <= 0);
    if (old && !asNumber.server.uses.some(({ leftMs }) => leftMs <= 0))
      report.fail(
        `${asText.name}: request ${old.request.index + 1} still carries it. As a number, expires_in is understood; as text it is not.`,
        tokenEvidence(asText, (index) => index === old.request.index),
      );

    // A token that ends in the middle of the read has to be survived with a right clock first.
    if (shortfall(lab, whole.observation, asNumber.observation) !== undefined) return;
    for (const shift of [skewMs, -skewMs]) {
      const runOptions = { slow, clockShiftMs: shift };
      const run = await runWithTokens(
        lab,
        endpoint,
        `a clock that is five minutes ${shift > 0 ? "fast" : "slow"}`,
        {
          ...{ lifeSeconds, tokenAnswer, runOptions },
          change: (answer, { atMs = 0 }) => ({
            ...answer,
            headers: { ...answer.headers, date: new Date(atMs - shift).toUTCString() },
            body: Buffer.from(
              withAbsoluteTimes(
                answer.body.toString("utf8"),
                endpoint.response.body ?? "",
                atMs - shift,
              ),
            ),
          }),
        },
      );
      expectWhole(run);
      expectRefreshes(run, whole.server.uses.length + 1, report);
    }
  },
});

function expectRefreshes(run: OAuthRun, most: number, report: Reporter): void {
  const { refreshes, uses } = run.server;
  if (refreshes.length <= most) return;
  report.fail(
    `${run.name}: the run got ${refreshes.length} access tokens for ${uses.length} requests, where ${most} ${most === 1 ? "is" : "are"} enough.`,
    tokenEvidence(run),
  );
}

/**
 * Times in the answer as the provider's clock has them; only those that the recorded answer holds.
 */
function withAbsoluteTimes(body: string, recorded: string, providerMs: number): string {
  const names = Object.entries(parseObject(recorded) ?? ({} as JsonObject)).flatMap(
    ([name, value]): [string, JsonValue][] => {
      const isStart = /^(created|issued)_(at|on)$/.test(name);
      if (!isStart && !/^(expires|expiry|expiration)(_(at|on|time))?$/.test(name)) return [];
      const ms = providerMs + (isStart ? 0 : lifeSeconds * 1_000);
      if (typeof value === "number") return [[name, value > 1e11 ? ms : Math.floor(ms / 1_000)]];
      return [
        [
          name,
          /^\d+$/.test(String(value)) ? String(Math.floor(ms / 1_000)) : new Date(ms).toISOString(),
        ],
      ];
    },
  );
  return rewriteTokens(body, Object.fromEntries(names));
}
