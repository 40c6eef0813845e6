/**
 * The parameters that a browser brought back, in any of the forms in which clients hand it on, and
 * what its failures are called here.
 */
import { ConnectorError, type Refusal } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { ControlError, type Reason, refuseField } from "../contract/reasons.ts";
import { IdInput, workspaceInput } from "../contract/schemas.ts";

type Parameters = Readonly<Record<string, string>>;

const Parameter = Type.String({ maxLength: 4_096 });
const own = {
  ...workspaceInput,
  connector_id: Type.Optional(IdInput("The connector, if the client knows it.")),
};

/**
 * The parameters of the callback's URL: beside the names that the request has itself, or all of
 * them in `query_params`.
 */
export const CallbackBody = Type.Object(
  {
    ...own,
    state: Type.Optional(Parameter),
    code: Type.Optional(Parameter),
    iss: Type.Optional(Parameter),
    error: Type.Optional(Parameter),
    error_description: Type.Optional(Parameter),
    query_params: Type.Optional(
      Type.Unsafe<Parameters>({
        type: "object",
        additionalProperties: Parameter,
        maxProperties: 50,
      }),
    ),
  },
  { title: "OauthCallback", additionalProperties: Parameter, maxProperties: 50 },
);

/** @throws validation_failed when both forms are mixed, or there is no state */
export function parametersOf(
  body: Static<typeof CallbackBody>,
): Parameters & { readonly state: string } {
  const { workspace_id: _workspace, connector_id: _connector, query_params, ...beside } = body;
  if (query_params && Object.keys(beside).length > 0)
    throw refuseField(
      "validation_failed",
      "query_params",
      "cannot be mixed with parameters beside it",
    );
  const parameters: Parameters = query_params ?? (beside as Parameters);
  const { state } = parameters;
  if (state) return { ...parameters, state };
  throw refuseField(
    "validation_failed",
    query_params ? "query_params.state" : "state",
    "is missing",
  );
}

/**
 * The URL at which the browser arrived. It is made from the redirect URI of the start: no client
 * says where that was.
 */
export function toCallbackUrl(redirectUri: string, parameters: Parameters): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

const ofRefusal: Readonly<Record<Refusal, Reason>> = {
  malformed: "oauth_callback_invalid",
  other_issuer: "oauth_callback_invalid",
  other_region: "oauth_callback_invalid",
  other_redirect: "oauth_callback_invalid",
  unknown_state: "oauth_state_used",
  expired: "oauth_state_expired",
  other_context: "oauth_other_session",
  denied: "oauth_denied",
  failed: "oauth_denied",
  code_refused: "provider_exchange_failed",
  no_refresh_token: "provider_exchange_failed",
};

/**
 * Which of the two failed and how, in words of ours: what a provider says stays where it was said.
 */
export interface ExchangeFailure {
  readonly reason: Reason;
  /** For the operator's log: a rule or a code of a closed set. */
  readonly cause: string;
}

/** Undefined: it does not come from the authorisation. */
export function toExchangeFailure(error: unknown): ExchangeFailure | undefined {
  if (!(error instanceof ConnectorError)) return undefined;
  if (error.code !== "AUTHORIZATION_FAILED")
    return { reason: "provider_exchange_failed", cause: error.code };
  const rule = error.details.rule as Refusal;
  return { reason: ofRefusal[rule], cause: rule };
}

export const exchangeError = ({ reason }: ExchangeFailure) => new ControlError(reason);
