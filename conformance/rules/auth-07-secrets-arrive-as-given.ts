import type { JsonObject, JsonValue } from "svc-connectors";
import { parsePointer } from "svc-connectors/host";
import { exchangeEvidence } from "../contract/evidence.ts";
import type { Canary, Lab } from "../contract/lab.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  findTokenEndpoint,
  isTokenRequest,
  pathOf,
  type TokenEndpoint,
} from "../derive/auth/token-endpoint.ts";
import { createTokenServer } from "../derive/auth/token-server.ts";
import { requestFields } from "./auth-07.request-fields.ts";

/** Characters that encodings trip over; fewer of them where a setting's pattern refuses some. */
const suffixes = ["%41&x=1+y:z", "%41+y=", "+/=", "-_.~"];

export default defineRule({
  id: "AUTH-07",
  level: "MUST",
  profile: "oauth",
  since: "0.1.0",
  title:
    "Secrets with % & = + and : arrive as they were given, and the client proves itself at the token endpoint in the declared way.",
  why: 'Generated secrets hold such characters one time in three. The customer sees "wrong password" with the right one, and nobody can tell why.',
  fix: "Let URLSearchParams or a form library write URLs and bodies. At a token endpoint, form-encode client ID and secret before the base64 of Basic (RFC 6749 section 2.3.1), and send them in one place only.",
  good: "body: new URLSearchParams({ client_id, client_secret, refresh_token, grant_type: 'refresh_token' })",
  bad: "body: 'client_id=' + client_id + '&client_secret=' + client_secret",
  notApplicable(lab) {
    if (lab.egress !== "http") return "it speaks no HTTP";
    return secretsOf(lab).length === 0 ? "its configuration holds no secret" : undefined;
  },
  async run(lab, report) {
    const endpoint = findTokenEndpoint(lab.recordings);
    const golden = (await lab.golden()).filter(
      ({ recording, observation }) =>
        recording.outcome.status === "succeeded" && observation.exchanges.length > 0,
    );
    for (const { recording, observation } of golden)
      lookAtClient(lab, endpoint, recording.name, observation, report);
    const tried = golden.find(({ recording }) => recording.run.verb === "check") ?? golden[0];
    if (!tried) return report.missing("No recording of a run that succeeds shows a request.");

    for (const secret of secretsOf(lab)) {
      const value = suffixes
        .map((suffix) => secret.value.slice(0, 20) + suffix)
        .find((one) => fits(one, schemaAt(lab.spec, secret.path)));
      if (value === undefined) continue;
      const command = lab.commandOf(tried.recording);
      if (command.verb === "spec") continue;
      const config = replaceAt(command.config, secret.path, value);
      const inner = endpoint ? createTokenServer(lab, endpoint) : lab.learned.provider();
      const observation = await lab.run(
        { ...command, config },
        { provider: asBefore(inner, value, secret.value) },
      );
      compare(secret, value, endpoint, tried.observation, observation, report);
    }
  },
});

type SecretSetting = Canary & { readonly path: readonly string[] };

function secretsOf({ canaries, secretPaths }: Lab): SecretSetting[] {
  return secretPaths.flatMap((pointer) => {
    const path = parsePointer(pointer);
    const canary = canaries.find(({ name }) => name === `config ${path.join(".")}`);
    return canary ? [{ ...canary, path }] : [];
  });
}

/** Each place that held the secret must hold the other one as it is. */
function compare(
  secret: SecretSetting,
  value: string,
  endpoint: TokenEndpoint | undefined,
  before: Observation,
  after: Observation,
  report: Reporter,
): void {
  const isToken = (request: ProviderRequest) =>
    endpoint !== undefined && isTokenRequest(endpoint, request);
  const reported = new Set<string>();
  for (const { request } of before.exchanges) {
    const what = `${request.method} ${pathOf(request.url)}`;
    for (const [place, text] of requestFields(request, isToken(request))) {
      if (!text.includes(secret.value) || reported.has(`${what} ${place}`)) continue;
      reported.add(`${what} ${place}`);
      report.checked(`${secret.name} in ${place} of ${what}`);
      const later = after.exchanges.find(
        (one) => `${one.request.method} ${pathOf(one.request.url)}` === what,
      );
      if (!later) {
        report.fail(
          `With the ${secret.name} "${value}", ${what} was never sent: the run ended as ${after.outcome.status}. The value fits the spec; it has to be sent as it is.`,
          exchangeEvidence("Requests", after.exchanges),
        );
        continue;
      }
      const wanted = text.replaceAll(secret.value, value);
      const given = requestFields(later.request, isToken(later.request)).get(place);
      if (given !== wanted)
        report.fail(
          `The ${secret.name} "${value}" arrived in ${place} of ${what} as ${given === undefined ? "nothing" : `"${given}"`}; the provider expects "${wanted}".`,
          exchangeEvidence("Requests", after.exchanges, (one) => one === later),
        );
    }
  }
}

/**
 * The client's secret in the header or in the body, as declared or recorded; never in both (RFC
 * 6749 section 2.3).
 */
function lookAtClient(
  lab: Lab,
  endpoint: TokenEndpoint | undefined,
  name: string,
  { exchanges }: Observation,
  report: Reporter,
): void {
  if (!endpoint) return;
  const { egress } = lab.manifest ?? {};
  const auth =
    egress?.kind === "http" ? egress.auth.find(({ type }) => type === "oauth2") : undefined;
  const secrets = secretsOf(lab).map(({ value }) => value);
  const bodySecret = (body: string) => {
    const fields = requestFields(
      { method: "POST", url: new URL(endpoint.url), headers: {}, body, index: 0 },
      true,
    );
    return [...fields].some(
      ([place, text]) =>
        !/refresh_token|assertion|code|grant/.test(place) && secrets.includes(text),
    );
  };
  const declared =
    auth?.type === "oauth2"
      ? (auth.clientAuth ?? "body")
      : bodySecret(endpoint.request.body ?? "")
        ? "body"
        : undefined;
  for (const exchange of exchanges.filter(({ request }) => isTokenRequest(endpoint, request))) {
    const { request } = exchange;
    const isBasic = /^basic /i.test(request.headers.authorization ?? "");
    const isInBody = bodySecret(request.body);
    const used = isBasic && isInBody ? "both" : isBasic ? "basic" : isInBody ? "body" : "none";
    report.checked(`${name}, how the client proves itself`);
    const needsProof =
      declared !== undefined ||
      Object.keys(lab.config).some((setting) => /client_?secret/i.test(setting));
    if (
      used === "both" ||
      (declared !== undefined && used !== declared) ||
      (used === "none" && needsProof)
    )
      report.fail(
        `${name}: the request to the token endpoint gives the client's secret in ${{ both: "the header and in the body", basic: "the header (Basic)", body: "the body", none: "neither header nor body" }[used]}; ${declared === "body" ? "the body is declared" : declared === "basic" ? "Basic is declared" : "one of them is expected"}.`,
        exchangeEvidence("Requests", exchanges, (one) => one === exchange),
      );
  }
}

/** Answers as if the old secret had been sent, however the new one is written. */
function asBefore(provider: Provider, value: string, old: string): Provider {
  const forms = [
    value,
    encodeURIComponent(value),
    new URLSearchParams([["", value]]).toString().slice(1),
    JSON.stringify(value).slice(1, -1),
  ];
  const back = (text: string) =>
    forms.reduce((changed, form) => changed.replaceAll(form, old), text);
  return {
    answer: (request) =>
      provider.answer({
        ...request,
        url: new URL(back(request.url.href)),
        body: back(request.body),
      }),
    unused: () => [],
  };
}

function schemaAt(spec: JsonObject, path: readonly string[]): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>(
    (schema, step) =>
      (schema?.properties as JsonObject | undefined)?.[step] as JsonObject | undefined,
    spec,
  );
}

function fits(
  value: string,
  { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY }: JsonObject = {},
): boolean {
  const matches = typeof pattern !== "string" || new RegExp(pattern, "u").test(value);
  return matches && value.length >= Number(minLength) && value.length <= Number(maxLength);
}

function replaceAt(
  config: JsonObject,
  [step = "", ...rest]: readonly string[],
  value: JsonValue,
): JsonObject {
  return {
    ...config,
    [step]: rest.length === 0 ? value : replaceAt((config[step] ?? {}) as JsonObject, rest, value),
  };
}
