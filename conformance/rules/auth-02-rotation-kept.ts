import { messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
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
  type TokenEndpoint,
  withoutOAuth,
} from "../derive/auth/token-endpoint.ts";

export default defineRule({
  id: "AUTH-02",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "A rotated refresh token is kept before the next request, also when the run fails later; without a new one the old one stays.",
  why: "The provider ends the old refresh token with the refresh. If the new one is lost, the next sync fails and the customer has to connect the account again.",
  fix: "Save the new refresh token (token store, or a CONTROL message with the whole configuration) before anything else is sent. Keep the old one when the answer holds none.",
  good: "await store.save(version, { ...tokens, refreshToken: answer.refresh_token ?? tokens.refreshToken });",
  bad: "tokens.refreshToken = answer.refresh_token; // kept at the end of the run, undefined when it did not rotate",
  notApplicable: (lab) => withoutOAuth(lab) ?? withoutRefresh(lab),
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    if (!endpoint) return report.missing(missingTokenExchange);
    const whole = await undisturbed(lab, endpoint);
    const { command } = whole.observation;
    const lastUse = whole.server.uses.length - 1;

    if (endpoint.refreshToken !== undefined) {
      const rotated = { refreshTokens: "rotated", isStrict: true, command } as const;
      const plain = await runWithTokens(
        lab,
        endpoint,
        "a read with a rotated refresh token",
        rotated,
      );
      const failing = await runWithTokens(lab, endpoint, "a read that fails after a rotation", {
        ...rotated,
        apiAnswer: (count) => (count >= Math.min(1, lastUse) ? refused : undefined),
      });
      const twice = await runWithTokens(lab, endpoint, "a read with two rotations", {
        ...rotated,
        revokeAt: Math.min(1, lastUse),
      });
      for (const run of [plain, failing, twice]) lookForSaves(lab, run, report);
      lookForChain(twice, report);
      await lookAtNextRun(lab, endpoint, plain, report);
    }
    const omitted = await runWithTokens(
      lab,
      endpoint,
      "refreshes whose answers hold no refresh token",
      {
        refreshTokens: "omitted",
        revokeAt: Math.min(1, lastUse),
        command,
      },
    );
    lookForKept(omitted, report);
  },
});

const refused = {
  status: 400,
  headers: { "content-type": "application/json" },
  body: Buffer.from('{"error":{"code":"bad_request","message":"The request failed."}}'),
};

function withoutRefresh(lab: Lab): string | undefined {
  const endpoint = findTokenEndpoint(lab.recordings);
  if (!endpoint || /refresh_token/.test(endpoint.request.body ?? "")) return undefined;
  return "its access tokens are got without a refresh token";
}

/**
 * Where and when the run had a refresh token kept; `before`: number of requests that had been sent.
 */
function savesOf(
  { observation }: OAuthRun,
  refreshToken: string,
): readonly { readonly before: number }[] {
  const written = observation.messages.flatMap(({ message, line, requestCount }) =>
    message.type === "CONTROL" && line.includes(JSON.stringify(refreshToken))
      ? [{ before: requestCount }]
      : [],
  );
  const saved = observation.traces.tokenSaves.flatMap((save) =>
    save.refreshToken === refreshToken ? [{ before: save.requestCount }] : [],
  );
  return [...written, ...saved];
}

function lookForSaves(lab: Lab, run: OAuthRun, report: Reporter): void {
  const controls = () =>
    messageEvidence(
      "CONTROL messages",
      run.observation,
      run.observation.messages.flatMap(({ message }, index) =>
        message.type === "CONTROL" ? [index] : [],
      ),
    );
  for (const [count, { index, newRefreshToken }] of run.server.refreshes.entries()) {
    if (newRefreshToken === undefined) continue;
    report.checked(`${run.name}, refresh ${count + 1}`);
    const saves = savesOf(run, newRefreshToken);
    // Output of a container arrives when it likes: only that it came can be said.
    const isInTime =
      saves.some(({ before }) => before <= index + 1) ||
      (!lab.can("inside") && lab.manifest === undefined);
    if (saves.length === 0)
      report.fail(
        `${run.name}: refresh ${count + 1} gave a new refresh token, which was never kept: neither a token store nor a CONTROL message got it. The old one is no longer valid.`,
        tokenEvidence(run),
        controls(),
      );
    else if (!isInTime)
      report.fail(
        `${run.name}: refresh ${count + 1} (request ${index + 1}) gave a new refresh token, which was kept only after ${saves[0]?.before} requests. It has to be kept before request ${index + 2}: a crash in between loses it.`,
        tokenEvidence(run),
        controls(),
      );
  }
}

function lookForChain(run: OAuthRun, report: Reporter): void {
  const { refreshes } = run.server;
  for (const [count, { newRefreshToken }] of refreshes.entries()) {
    const next = refreshes[count + 1];
    if (newRefreshToken === undefined || !next) continue;
    report.checked(`${run.name}, the token that refresh ${count + 2} sends`);
    if (next.refreshToken !== newRefreshToken)
      report.fail(
        `${run.name}: refresh ${count + 2} sent the refresh token from before the rotation, which the provider has ended; it had given another one with refresh ${count + 1}.`,
        tokenEvidence(run, (index) => index === next.index),
      );
  }
}

/** The configuration that a source asks to be kept must be all that the next run needs. */
async function lookAtNextRun(
  lab: Lab,
  endpoint: TokenEndpoint,
  { observation, server }: OAuthRun,
  report: Reporter,
): Promise<void> {
  const kept = observation.messages
    .flatMap(({ message }) =>
      message.type === "CONTROL" && message.control.connectorConfig
        ? [message.control.connectorConfig.config]
        : [],
    )
    .at(-1);
  const newest = server.refreshes.findLast(
    ({ newRefreshToken }) => newRefreshToken !== undefined,
  )?.newRefreshToken;
  if (kept === undefined || newest === undefined || observation.command.verb === "spec") return;
  const next = await runWithTokens(
    lab,
    endpoint,
    "the next run, with the configuration that was kept",
    {
      command: { ...observation.command, config: kept },
    },
  );
  report.checked(next.name);
  const sent = next.server.refreshes[0]?.refreshToken;
  if (sent !== newest)
    report.fail(
      `${next.name} ${sent === undefined ? "sends no refresh token" : "sends a refresh token that is no longer valid"}: the CONTROL message has to hold the whole configuration with the new refresh token in its place.`,
      tokenEvidence(next),
    );
  const lacking = shortfall(lab, observation, next.observation);
  if (lacking !== undefined)
    report.fail(`${next.name} does not do the same: ${lacking}.`, tokenEvidence(next));
}

function lookForKept(run: OAuthRun, report: Reporter): void {
  const [first, ...later] = run.server.refreshes;
  if (!first) return;
  report.checked(run.name);
  for (const { index, refreshToken } of later)
    if (refreshToken !== first.refreshToken)
      report.fail(
        `The first refresh was answered without a refresh token, so the old one stays valid. The next refresh (request ${index + 1}) sent ${refreshToken === undefined ? "none" : `another one ("${refreshToken}")`}.`,
        tokenEvidence(run, (other) => other === index),
      );
  const lost = run.observation.traces.tokenSaves.find(
    ({ refreshToken }) => refreshToken !== first.refreshToken,
  );
  if (lost)
    report.fail(
      `A refresh was answered without a refresh token, and ${lost.refreshToken === undefined ? "nothing" : "another value"} was kept in place of the old one.`,
      tokenEvidence(run),
    );
  for (const [index, { message, line }] of run.observation.messages.entries())
    if (message.type === "CONTROL" && !line.includes(JSON.stringify(first.refreshToken)))
      report.fail(
        "A refresh was answered without a refresh token, and the configuration that was then kept no longer holds the old one.",
        messageEvidence("Messages", run.observation, [index]),
      );
}
