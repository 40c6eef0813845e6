/** Checks a callback against the authorization that was begun. Sends nothing. */
import { validateAuthResponse } from "oauth4webapi";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject } from "../contract/json.ts";
import { fillTemplate } from "../egress/request-url.ts";
import type { CodeGrant } from "../egress/token-endpoint.ts";
import { type AuthorizableAccount, regionOf } from "./declaration.ts";
import { type AuthorizationContext, isContextOf, type PendingAuthorization } from "./pending.ts";

/**
 * Why an account was not connected: the `rule` in the details of AUTHORIZATION_FAILED, for logs.
 * Its message is the same for all, because which check failed helps an attacker only.
 */
export const refusals = {
  malformed: "The callback lacks a parameter, or has one twice.",
  unknown_state: "Its state was never given out, or was used before.",
  expired: "It came more than ten minutes after the start.",
  other_context:
    "It came to another workspace, connector, user or session than the one that began.",
  other_redirect: "It came to another redirect URI.",
  other_issuer: "It came from another authorization server.",
  other_region: "It names a token host that is not among those of the connector.",
  denied: "The user, or a rule of the provider, denied access.",
  failed: "The provider ended the authorisation with an error.",
  code_refused: "The provider did not accept the code, the proof key or the redirect URI.",
  no_refresh_token: "The access token ends, and the provider gave no refresh token.",
} as const;

export type Refusal = keyof typeof refusals;

export const refusal = (rule: Refusal) => new ConnectorError("AUTHORIZATION_FAILED", { rule });

export interface Callback {
  readonly parameters: URLSearchParams;
  readonly state: string;
  /** The callback's URL without its parameters. */
  readonly redirectUri: string;
}

/** @throws AUTHORIZATION_FAILED malformed: no URL, a parameter twice, or no state */
export function parseCallback(callbackUrl: string): Callback {
  const url = URL.parse(callbackUrl);
  if (!url) throw refusal("malformed");
  const parameters = new URLSearchParams(url.search);
  const names = [...parameters.keys()];
  const state = parameters.get("state") ?? "";
  if (new Set(names).size !== names.length || state === "" || url.hash !== "")
    throw refusal("malformed");
  url.search = "";
  return { parameters, state, redirectUri: url.href };
}

/**
 * The code with all that goes with it to the token endpoint, and the settings that the callback
 * decided.
 * @throws AUTHORIZATION_FAILED
 */
export function checkCallback(
  { parameters, state, redirectUri }: Callback,
  pending: PendingAuthorization,
  options: {
    readonly account: AuthorizableAccount;
    readonly spec: JsonObject;
    readonly context: AuthorizationContext;
    readonly nowMs: number;
  },
): { readonly grant: CodeGrant; readonly config: JsonObject } {
  const { account, spec, context, nowMs } = options;
  const { region, issuer: declared, authorizeUrl } = account.authorization;
  if (nowMs >= pending.expiresAtMs) throw refusal("expired");
  if (!isContextOf(pending, context)) throw refusal("other_context");
  if (redirectUri !== pending.redirectUri) throw refusal("other_redirect");

  const issuer = declared ?? fillTemplate(authorizeUrl, pending.config, spec).origin;
  const named = parameters.get("iss");
  if (named === null ? declared !== undefined : named !== issuer) throw refusal("other_issuer");
  if (parameters.has("error"))
    throw refusal(parameters.get("error") === "access_denied" ? "denied" : "failed");

  const server = region && parameters.get(region.parameter);
  const config = server ? regionOf(account, server, pending.config, spec) : {};
  if (!config) throw refusal("other_region");
  if ((parameters.get("code") ?? "") === "") throw refusal("malformed");
  try {
    const client = { client_id: "checked above" };
    const callbackParameters = validateAuthResponse({ issuer }, client, parameters, state);
    const { codeVerifier } = pending;
    return { grant: { callbackParameters, redirectUri, codeVerifier }, config };
  } catch {
    throw refusal("malformed"); // Forms of answers that were not asked for: JARM, implicit, hybrid.
  }
}
