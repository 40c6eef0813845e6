/**
 * The closed table of everything that the control API answers when it does not do what was asked.
 * `reason` is stable and for programs, the message for people. The error `code` of the answer is
 * the HTTP status as text.
 */
export const reasons = {
  // 400: the request cannot be understood
  malformed_json: { status: 400, message: "The body is not valid JSON." },
  malformed_request: { status: 400, message: "The request is not valid HTTP." },
  invalid_query: { status: 400, message: "A parameter of the path or the query is not valid." },
  invalid_header: { status: 400, message: "A header is not valid." },
  invalid_cursor: {
    status: 400,
    message: "The cursor does not belong to this list. Start again without one.",
  },
  invalid_execution_mode: {
    status: 400,
    message: "X-Svc-Execution-Mode must be proposal or direct.",
  },
  workspace_required: {
    status: 400,
    message:
      "The token belongs to several workspaces. Name one in workspace_id or X-Svc-Workspace-Id.",
  },
  oauth_state_unknown: { status: 400, message: "The state was never given out." },
  // 401
  unauthenticated: { status: 401, message: "A valid access token is required." },
  // 403: always the same words
  permission_denied: { status: 403, message: "permission denied" },
  agent_cannot_approve: { status: 403, message: "permission denied" },
  distinct_approver_required: { status: 403, message: "permission denied" },
  origin_not_allowed: { status: 403, message: "permission denied" },
  oauth_other_session: { status: 403, message: "permission denied" },
  // 404: what belongs to another workspace does not exist either
  not_found: { status: 404, message: "What the request names does not exist." },
  // 405, 406, 408
  method_not_allowed: { status: 405, message: "This address does not take that method." },
  not_acceptable: {
    status: 406,
    message:
      "Answers are application/json; streams are what the documents say, text/event-stream for one.",
  },
  request_timeout: { status: 408, message: "The request did not arrive in time." },
  // 409: the state of things does not allow it
  concurrent_change: {
    status: 409,
    message: "Another request has changed it meanwhile. Read it again.",
  },
  connector_disabled: {
    status: 409,
    message: "The operator has disabled or removed this connector, or must add it again.",
  },
  connector_in_use: {
    status: 409,
    message: "Workspaces have credentials or sources of this connector. Delete them first.",
  },
  source_has_connections: {
    status: 409,
    message: "The source still has connections. Delete them first.",
  },
  credential_in_use: { status: 409, message: "The credential is still used." },
  idempotency_in_flight: {
    status: 409,
    message: "The first request with this Idempotency-Key is still running.",
  },
  oauth_state_used: { status: 409, message: "The state was used before. Start again." },
  invitation_exists: { status: 409, message: "There is a pending invitation for this address." },
  already_member: { status: 409, message: "This person is a member already." },
  invitation_not_pending: {
    status: 409,
    message: "The invitation was accepted or revoked before.",
  },
  inviter_no_longer_permitted: {
    status: 409,
    message: "Who invited is no longer permitted to give this role.",
  },
  last_admin: { status: 409, message: "The last administrator cannot be removed." },
  approval_not_pending: { status: 409, message: "The approval is no longer pending." },
  payload_changed: { status: 409, message: "The proposal is not the one that was read." },
  resource_changed: { status: 409, message: "What the proposal is about has changed since." },
  requester_no_longer_permitted: {
    status: 409,
    message: "Who proposed it is no longer permitted to do it.",
  },
  destination_in_use: {
    status: 409,
    message:
      "The destination still has connections, or reverse ETL models that read from it. Delete them first.",
  },
  table_in_use: {
    status: 409,
    message:
      "Another pipeline writes to one of these tables. Choose a prefix or a namespace, or another destination.",
  },
  source_in_use: {
    status: 409,
    message:
      "Another active pipeline reads what this one's source names for one reader alone, such as a replication slot. Name another one, or pause that pipeline.",
  },
  sync_already_running: { status: 409, message: "A job of this pipeline is under way already." },
  pipeline_paused: { status: 409, message: "The pipeline is paused. Resume it first." },
  pipeline_locked: { status: 409, message: "The pipeline is locked." },
  job_ended: { status: 409, message: "The job has ended already." },
  model_has_activations: {
    status: 409,
    message: "The model still has activations. Delete them first.",
  },
  destination_has_activations: {
    status: 409,
    message: "The destination still has activations. Delete them first.",
  },
  run_in_progress: { status: 409, message: "A run of this activation is under way already." },
  activation_not_active: { status: 409, message: "The activation is paused or disabled." },
  workspace_not_empty: {
    status: 409,
    message:
      "Something is still in the workspace, or somebody else belongs to it. Delete and remove that first.",
  },
  workspace_administers_instance: {
    status: 409,
    message: "The first workspace of an instance cannot be deleted.",
  },
  too_many_webhook_endpoints: {
    status: 409,
    message: "The workspace has as many webhook endpoints as it can have. Delete one first.",
  },
  webhook_endpoint_disabled: {
    status: 409,
    message: "The webhook endpoint is disabled. Enable it first.",
  },
  name_taken: { status: 409, message: "There is one of that name." },
  // 410
  oauth_state_expired: {
    status: 410,
    message: "The authorisation was not finished within ten minutes. Start again.",
  },
  approval_expired: { status: 410, message: "The approval has expired." },
  invitation_expired: { status: 410, message: "The invitation has expired." },
  prepare_expired: { status: 410, message: "What was prepared has expired. Prepare again." },
  // 412
  version_mismatch: { status: 412, message: "It was changed since the version in If-Match." },
  // 413, 415, 417
  body_too_large: { status: 413, message: "The body is larger than 1 MiB." },
  unsupported_media_type: { status: 415, message: "The body must be application/json." },
  expectation_failed: { status: 417, message: "The only expectation that is met is 100-continue." },
  // 422: understood, and not possible as it stands
  validation_failed: { status: 422, message: "The request does not have the required form." },
  duplicate_field: { status: 422, message: "A field stands twice in the body." },
  nesting_too_deep: { status: 422, message: "The body is nested more than 32 levels deep." },
  invalid_base_url: { status: 422, message: "The base URL is refused." },
  secret_not_allowed: {
    status: 422,
    message: "Secrets are accepted only by the credential endpoints.",
  },
  invalid_configuration: { status: 422, message: "The configuration does not fit the connector." },
  immutable_field: { status: 422, message: "This field cannot be changed." },
  credential_mismatch: {
    status: 422,
    message: "The credential is of another connector, or bound to another host.",
  },
  connection_check_failed: {
    status: 422,
    message: "The connection test failed. Nothing was saved.",
  },
  idempotency_key_reused: {
    status: 422,
    message: "The Idempotency-Key was used for another request.",
  },
  redirect_uri_not_allowed: {
    status: 422,
    message: "The redirect_uri is not registered for this connector.",
  },
  oauth_not_supported: {
    status: 422,
    message: "Accounts of this connector are not connected in the browser.",
  },
  oauth_app_missing: {
    status: 422,
    message: "The operator has registered no OAuth application for this connector.",
  },
  oauth_callback_invalid: {
    status: 422,
    message: "The callback does not belong to this authorisation. Start again.",
  },
  oauth_denied: { status: 422, message: "The provider, or its user, denied access." },
  connector_refused: { status: 422, message: "The connector cannot be added." },
  report_refused: { status: 422, message: "The conformance report cannot be kept." },
  entities_not_supported: {
    status: 422,
    message: "This connector has nothing to choose settings from.",
  },
  table_limit_exceeded: {
    status: 422,
    message: "More than 6,000 tables cannot be synced at a time. Select fewer.",
  },
  table_name_conflict: {
    status: 422,
    message: "Two streams would have the same table. Choose another namespace.",
  },
  stream_unknown: { status: 422, message: "The source has no such stream." },
  sync_mode_unsupported: { status: 422, message: "The stream cannot be synced in this mode." },
  invalid_schedule: { status: 422, message: "The schedule is not valid." },
  query_refused: { status: 422, message: "The query is refused." },
  query_failed: { status: 422, message: "The query failed." },
  invalid_mapping: {
    status: 422,
    message: "The mappings do not fit the model and the destination.",
  },
  provider_refused: { status: 422, message: "The provider refused the request." },
  // 424
  credential_not_usable: {
    status: 424,
    message: "The credential cannot be used. Connect the account again.",
  },
  // 429, 431
  rate_limited: {
    status: 429,
    message: "Too many requests. Try again after the time in Retry-After.",
  },
  too_many_streams: {
    status: 429,
    message: "Too many streams are open. Close one, or ask now and then instead.",
  },
  headers_too_large: { status: 431, message: "Address and headers are larger than 16 KiB." },
  // 5xx
  outcome_unknown: {
    status: 500,
    message:
      "The server stopped while it was carried out. Look at what has become of it before you propose it again.",
  },
  internal: { status: 500, message: "Something went wrong. Nothing was changed." },
  provider_exchange_failed: {
    status: 502,
    message: "The provider did not complete the authorisation. Start again.",
  },
  provider_failed: { status: 502, message: "The provider did not answer as its API promises." },
  not_ready: { status: 503, message: "The database does not answer." },
  overloaded: { status: 503, message: "The server is busy or stopping. Try again." },
  provider_timeout: { status: 504, message: "The provider did not answer in time." },
} as const satisfies Record<string, { readonly status: number; readonly message: string }>;

export type Reason = keyof typeof reasons;

/**
 * One fault of a request: where (dotted path, "" is the body), why, and a sentence without the
 * value.
 */
export interface FieldFault {
  readonly path: string;
  readonly reason: string;
  readonly message: string;
}

/** Plain facts that go into `details` beside the reason. They never hold what the caller sent. */
export type ReasonDetails = { readonly [name: string]: unknown };

/**
 * The one error class of control. Its reason decides status and message; nothing foreign is in it.
 */
export class ControlError extends Error {
  override readonly name = "ControlError";
  readonly reason: Reason;
  readonly details: ReasonDetails;
  /** Headers of the answer, for instance `retry-after`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The missing thing that the caller has named: the door looks up where it stands. */
  readonly missing: string | undefined;

  constructor(
    reason: Reason,
    details: ReasonDetails = {},
    headers: Readonly<Record<string, string>> = {},
    missing?: string | undefined,
  ) {
    super(reasons[reason].message);
    this.reason = reason;
    this.details = details;
    this.headers = headers;
    this.missing = missing;
  }

  get status(): number {
    return reasons[this.reason].status;
  }
}

/**
 * A 404 of what has no such id. The answer says of what kind it is, and where in the body or the
 * query it is named.
 */
export const notFound = (resource: string, id: string) =>
  new ControlError("not_found", { resource }, {}, id);

/** A 422 with the places that are wrong. */
export const refuseFields = (reason: Reason, errors: readonly FieldFault[]) =>
  new ControlError(reason, { errors });

/** A 422 about one place. */
export const refuseField = (reason: Reason, path: string, message: string) =>
  refuseFields(reason, [{ path, reason, message }]);
