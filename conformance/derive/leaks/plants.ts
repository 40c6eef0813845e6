/**
 * Marks that the kit puts into a provider's answers, to look for them in the connector's output.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";
import type { Canary, Lab } from "../../contract/lab.ts";
import type { Answer, Provider, ProviderRequest } from "../../contract/network.ts";
import { canaryValue } from "../../fixtures/canaries.ts";
import { withAnswers } from "../../replay/strict.ts";

export interface Plants {
  /** Secrets that the provider issues in every answer: a cookie, a signature, a session token. */
  readonly issued: readonly Canary[];
  /** Stands in every text of an error answer. */
  readonly payload: Canary;
}

export function plantsOf({ seed }: Pick<Lab, "seed">): Plants {
  const made = (name: string): Canary => ({ name, value: canaryValue(seed, `planted ${name}`) });
  return {
    issued: ["set-cookie", "x-request-signature", "session_token"].map((name) =>
      made(`issued ${name}`),
    ),
    payload: made("text of an error answer"),
  };
}

const issuedValue = ({ issued }: Plants, name: string) =>
  issued.find((one) => one.name === `issued ${name}`)?.value ?? "";

/**
 * The provider, which issues a cookie and a signature with every answer, and a token in the
 * envelope of those that have one.
 */
export function withIssuedSecrets(lab: Lab, provider: Provider): Provider {
  const plants = plantsOf(lab);
  return withAnswers(provider, (answer, request) => ({
    ...answer,
    headers: { ...answer.headers, ...issuedHeaders(plants) },
    body: hasEnvelope(lab, request)
      ? withMembers(answer.body, {
          session_token: issuedValue(plants, "session_token"),
          ...echo(request),
        })
      : answer.body,
  }));
}

const issuedHeaders = (plants: Plants) => ({
  "set-cookie": `session=${issuedValue(plants, "set-cookie")}; Path=/; HttpOnly`,
  "x-request-signature": issuedValue(plants, "x-request-signature"),
});

/** Some providers echo what they were sent. */
function echo({ headers }: ProviderRequest): JsonObject {
  return headers.authorization === undefined
    ? {}
    : { sent: { authorization: headers.authorization } };
}

/**
 * More members beside the rows of a listing are no data; an answer without rows of its own may be
 * data as a whole.
 */
function hasEnvelope({ learned }: Lab, request: ProviderRequest): boolean {
  const paging = learned.listingOf(request)?.paging;
  return (
    paging !== undefined && paging.style !== "unknown" && paging.rows !== "" && paging.rows !== "/"
  );
}

/**
 * The members come first; the digits of the rest stay as they are. Text that is no JSON object is
 * left alone.
 */
function withMembers(body: Buffer, members: JsonObject): Buffer {
  const text = body.toString("utf8");
  const start = /^\s*\{\s*/.exec(text)?.[0];
  if (start === undefined) return body;
  const rest = text.slice(start.length);
  return Buffer.from(
    `${JSON.stringify(members).slice(0, -1)}${rest.startsWith("}") ? "" : ","}${rest}`,
  );
}

/**
 * An error of a provider that says too much: the canary in every text, a trace of its own, and the
 * session's token.
 */
export interface ErrorAnswerKind {
  readonly name: string;
  readonly status: number;
  readonly form: "json" | "page" | "text";
}

export const errorAnswerKinds: readonly ErrorAnswerKind[] = [
  ...[400, 401, 403, 404, 409, 410, 422, 429, 500, 503].map((status) => ({
    name: `answered ${status}`,
    status,
    form: "json" as const,
  })),
  { name: "answered 502 with a web page", status: 502, form: "page" },
  { name: "answered 500 with a stack trace", status: 500, form: "text" },
  { name: "answered 200 with a web page", status: 200, form: "page" },
  { name: "answered 200 with an error inside", status: 200, form: "json" },
];

export function talkativeError(lab: Lab, { status, form }: ErrorAnswerKind): Answer {
  const plants = plantsOf(lab);
  const { value } = plants.payload;
  const headers = {
    ...{ "x-debug": `debug ${value}`, "www-authenticate": `Bearer realm="${value}"` },
    ...issuedHeaders(plants),
    ...(status === 429 ? { "retry-after": "1" } : {}),
  };
  if (form === "page")
    return answerOf(
      status,
      "text/html",
      headers,
      `<!DOCTYPE html><html><head><title>Error ${value}</title></head><body><h1>${value}</h1></body></html>`,
    );
  if (form === "text")
    return answerOf(
      status,
      "text/plain",
      headers,
      `Error: ${value}\n    at handle_${value} (/srv/api/handler.js:12:7)\n`,
    );
  const body = ownErrorBody(lab, status) ?? {
    error: { code: "error", message: "The request failed." },
    errors: [{ message: "The request failed." }],
  };
  const echoed = {
    ...(everyText(body, (text) => `${text} ${value}`) as JsonObject),
    debug: value,
    session_token: issuedValue(plants, "session_token"),
  };
  return answerOf(status, "application/json", headers, JSON.stringify(echoed));
}

/** The body of a recorded error answer of this status. */
function ownErrorBody(lab: Lab, status: number): JsonObject | undefined {
  const own =
    lab.answers?.answers[String(status)]?.body ??
    lab.recordings
      .flatMap(({ interactions }) => interactions)
      .find(({ response }) => status >= 400 && response.status === status)?.response.body;
  return parsedObject(own);
}

/** A code of an error that no connector can know. */
const unknownCode = "UNLISTED_CONDITION";

/**
 * An error inside an answer, of an unknown code and with the canary in its texts: under the names
 * that this provider's own error answers have, and the usual ones.
 */
export function plantedError(lab: Lab): JsonObject {
  const { value } = plantsOf(lab).payload;
  const text = `Something failed. ${value}`;
  const bodies = [400, 401, 403].map((status) => ownErrorBody(lab, status));
  const own: JsonObject = bodies.find((body) => body !== undefined) ?? {};
  const texts = Object.entries(isJsonObject(own.error) ? own.error : own).flatMap(
    ([name, given]) =>
      typeof given === "string" ? [[name, isCode(given) ? unknownCode : text] as const] : [],
  );
  return {
    ...{ type: unknownCode, code: unknownCode, error_code: unknownCode },
    ...{ message: text, error_message: text, description: text, detail: text },
    ...Object.fromEntries(texts),
  };
}

const answerOf = (
  status: number,
  type: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Answer => ({
  status,
  headers: { "content-type": type, ...headers },
  body: Buffer.from(body),
});

function parsedObject(text: string | undefined): JsonObject | undefined {
  try {
    const value = JSON.parse(text ?? "") as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Short codes that a client tells errors apart by. */
const isCode = (text: string) => /^[\w.:-]{0,40}$/.test(text);

/** The value with every text in it changed, save codes. */
export function everyText(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === "string") return isCode(value) ? value : change(value);
  if (Array.isArray(value)) return value.map((part) => everyText(part, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, everyText(part, change)]),
  );
}
