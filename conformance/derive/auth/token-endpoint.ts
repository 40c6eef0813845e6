/** The token endpoint of a connector, as its recordings show it (RFC 6749 section 5.1 and 6). */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { LearnedProvider } from "../../contract/learned.ts";
import type { ProviderRequest } from "../../contract/network.ts";
import type { RecordedRequest, RecordedResponse, Recording } from "../../contract/recording.ts";
import { toAnswer } from "../../replay/strict.ts";

export interface TokenEndpoint {
  /** Origin and path. */
  readonly url: string;
  readonly method: string;
  /** The recorded exchange that gave a token. */
  readonly request: RecordedRequest;
  readonly response: RecordedResponse;
  readonly accessToken: string;
  /** Given by the provider with the access token: it rotates. */
  readonly refreshToken: string | undefined;
}

/** The first exchange whose answer holds an access token. */
export function findTokenEndpoint(recordings: readonly Recording[]): TokenEndpoint | undefined {
  for (const { interactions } of recordings) {
    for (const { request, response } of interactions) {
      const holder = tokenHolder(parseObject(response.body ?? ""));
      if (response.status !== 200 || request.method !== "POST" || holder === undefined) continue;
      const { access_token, refresh_token } = holder;
      return {
        url: pathOf(new URL(request.url)),
        method: request.method,
        request,
        response,
        accessToken: String(access_token),
        refreshToken: typeof refresh_token === "string" ? refresh_token : undefined,
      };
    }
  }
  return undefined;
}

/** Why the rules of OAuth say nothing about this connector. */
export function withoutOAuth(lab: Lab): string | undefined {
  const { egress } = lab.manifest ?? {};
  const isDeclared = egress?.kind === "http" && egress.auth.some(({ type }) => type === "oauth2");
  if (isDeclared || findTokenEndpoint(lab.recordings)) return undefined;
  return "it gets no access tokens: none is declared, and none is recorded";
}

export const missingTokenExchange =
  "No recording shows how an access token is got: record a check from a refresh token alone, so that the request to the token endpoint is in it.";

export const isTokenRequest = (
  { url, method }: TokenEndpoint,
  request: Pick<ProviderRequest, "method" | "url">,
) => request.method === method && pathOf(request.url) === url;

export const pathOf = (url: URL) => `${url.origin}${url.pathname}`;

/** Parameters of a body: a form's, or the texts of a JSON object. */
export function bodyParameters({
  body,
}: Pick<ProviderRequest, "body">): ReadonlyMap<string, string> {
  const object = parseObject(body);
  if (object)
    return new Map(
      Object.entries(object).flatMap(([name, value]) =>
        typeof value === "string" ? [[name, value]] : [],
      ),
    );
  return new Map(new URLSearchParams(body));
}

/** The body of a token answer with other values; `undefined` leaves a name out. */
export function rewriteTokens(
  body: string,
  values: Readonly<Record<string, JsonValue | undefined>>,
): string {
  const answer = parseObject(body) ?? {};
  const holder = tokenHolder(answer) ?? answer;
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete holder[name];
    else holder[name] = value;
  }
  return JSON.stringify(answer);
}

/** The object, at any depth, that holds the access token. */
function tokenHolder(value: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  if (typeof value.access_token === "string") return value;
  for (const part of Object.values(value)) {
    const found = tokenHolder(part);
    if (found) return found;
  }
  return undefined;
}

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The learned provider, whose token endpoint also answers later refreshes: with a refresh token
 * that it gave out itself.
 */
export function withLaterRefreshes(
  learned: LearnedProvider,
  recordings: readonly Recording[],
): LearnedProvider {
  const endpoint = findTokenEndpoint(recordings);
  const { refreshToken } = endpoint ?? {};
  if (!endpoint || refreshToken === undefined) return learned;
  return {
    ...learned,
    provider(changes) {
      const inner = learned.provider(changes);
      return {
        answer(request) {
          const given = inner.answer(request);
          const isLater =
            "unmatched" in given &&
            isTokenRequest(endpoint, request) &&
            bodyParameters(request).get("refresh_token") === refreshToken;
          return isLater ? toAnswer(endpoint.response, "a later refresh") : given;
        },
        unused: () => inner.unused(),
      };
    },
  };
}
