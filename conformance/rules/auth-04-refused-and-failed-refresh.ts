import { isOfClass, type Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";
import type { Command, ErrorClass } from "../contract/observation.ts";
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
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";
import { refusedGrant } from "../derive/auth/token-server.ts";

const json = { "content-type": "application/json" };
const refusedClient: Answer = {
  status: 401,
  headers: json,
  body: Buffer.from('{"error":"invalid_client"}'),
};
const down: Answer = {
  status: 503,
  headers: json,
  body: Buffer.from('{"error":"temporarily_unavailable"}'),
};
/**
 * Nothing changes between two tries: a second one may be an accident, more are not. Each stream of
 * a run may find it out for itself.
 */
const mostRefused = 2;
/** Tries of a refresh while the provider is down. */
const mostTries = 10;

export default defineRule({
  id: "AUTH-04",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "A refresh that is refused (invalid_grant) fails as an auth error without further tries; one that meets a 5xx is tried again with the same token.",
  why: "A refused refresh token never works again: trying on gets the client blocked. A provider that is down for a moment must not cost the customer a new login.",
  fix: "Map invalid_grant and invalid_client to an auth error at once. Retry 5xx with backoff, and keep the refresh token until another one has come.",
  good: "if (error === 'invalid_grant') throw new AuthError('Connect the account again.');",
  bad: "for (;;) { try { return await refresh(); } catch { await sleep(1000); } }",
  notApplicable: withoutOAuth,
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    if (!endpoint) return report.missing(missingTokenExchange);
    const whole = await undisturbed(lab, endpoint);
    const [stream] = lab.streams.filter(({ recording }) => recording);
    const commands: readonly { readonly verb: string; readonly command: Command }[] = [
      { verb: "check", command: { verb: "check", config: lab.config } },
      ...(stream ? [{ verb: "read", command: lab.readCommand([stream]) }] : []),
    ];
    for (const { verb, command } of commands) {
      const refused = await runWithTokens(
        lab,
        endpoint,
        `${verb} whose refresh token is refused (invalid_grant)`,
        {
          command,
          tokenAnswer: () => refusedGrant,
        },
      );
      lookAtRefusal(refused, ["auth"], mostRefused, report);
      const unknown = await runWithTokens(
        lab,
        endpoint,
        `${verb} whose client is refused (invalid_client)`,
        {
          command,
          tokenAnswer: () => refusedClient,
        },
      );
      lookAtRefusal(unknown, ["auth", "config", "permission"], mostRefused, report);
      const broken = await runWithTokens(
        lab,
        endpoint,
        `${verb} while the token endpoint answers 503`,
        {
          command,
          tokenAnswer: () => down,
        },
      );
      lookAtOutage(broken, report);
    }
    const late = await runWithTokens(
      lab,
      endpoint,
      "a refresh token that is refused in the middle of a read",
      {
        revokeAt: 1,
        tokenAnswer: (count) => (count === 0 ? undefined : refusedGrant),
      },
    );
    if (late.server.refreshes.length > 1)
      lookAtRefusal(late, ["auth"], 1 + Math.max(mostRefused, lab.streams.length), report);

    const first = await runWithTokens(lab, endpoint, "a first refresh that is answered 503 once", {
      tokenAnswer: (count) => (count === 0 ? down : undefined),
    });
    lookAtRecovery(lab, whole, first, 0, report);
    const later = await runWithTokens(lab, endpoint, "a later refresh that is answered 503 once", {
      revokeAt: 1,
      tokenAnswer: (count) => (count === 1 ? down : undefined),
    });
    if (later.server.refreshes.length > 1) lookAtRecovery(lab, whole, later, 1, report);
  },
});

function lookAtRefusal(
  run: OAuthRun,
  classes: readonly ErrorClass[],
  most: number,
  report: Reporter,
): void {
  report.checked(run.name);
  const { status, failures } = run.observation.outcome;
  const { refreshes, uses } = run.server;
  if (refreshes.length > most)
    report.fail(
      `${run.name}: the refresh was sent ${refreshes.length} times. What is refused once is refused for good: fail at once.`,
      tokenEvidence(run),
    );
  if (refreshes[0]?.accessToken === undefined && uses.length > 0)
    report.fail(
      `${run.name}: ${uses.length} requests went to the API although there was no access token.`,
      tokenEvidence(run, (index) => uses.some(({ request }) => request.index === index)),
    );
  if (status !== "failed")
    report.fail(
      `${run.name}: it should fail with an auth error, and ended as ${status}.`,
      tokenEvidence(run),
    );
  else if (!failures.some((failure) => isOfClass(failure, ...classes)))
    report.fail(
      `${run.name}: the failure "${failures[0]?.message ?? ""}" is of the class ${failures[0]?.classes.join(" or ") || "(none)"}; only an auth error asks the customer to connect the account again.`,
      tokenEvidence(run),
    );
}

function lookAtOutage(run: OAuthRun, report: Reporter): void {
  report.checked(run.name);
  const { failures, status } = run.observation.outcome;
  const count = run.server.refreshes.length;
  if (count > mostTries)
    report.fail(
      `${run.name}: the refresh was sent ${count} times; stop after a few tries.`,
      tokenEvidence(run),
    );
  if (status !== "failed")
    report.fail(
      `${run.name}: it should fail as transient, and ended as ${status}.`,
      tokenEvidence(run),
    );
  else if (
    failures.some(({ classes }) => classes.length > 0) &&
    !failures.some((failure) => isOfClass(failure, "transient", "rate_limit"))
  )
    report.fail(
      `${run.name}: the failure "${failures[0]?.message ?? ""}" is of the class ${failures[0]?.classes.join(" or ")}; the provider being down is transient, and no reason to connect the account again.`,
      tokenEvidence(run),
    );
}

function lookAtRecovery(
  lab: Lab,
  whole: OAuthRun,
  run: OAuthRun,
  failed: number,
  report: Reporter,
): void {
  report.checked(run.name);
  const lacking = shortfall(lab, whole.observation, run.observation);
  const [before, after] = [run.server.refreshes[failed], run.server.refreshes[failed + 1]];
  if (before && after && before.refreshToken !== after.refreshToken)
    report.fail(
      `${run.name}: the second try sent ${after.refreshToken === undefined ? "no refresh token" : "another refresh token"}. A refresh that failed has not used it up.`,
      tokenEvidence(run, (index) => index === after.index),
    );
  else if (lacking !== undefined)
    report.fail(
      `${run.name}: the refresh should be tried again and the run go on, but ${lacking}.`,
      tokenEvidence(run),
    );
}
