/**
 * The closed error table. Everything that can go wrong has one row here; nothing else leaves the
 * process. docs/errors.md is generated from it; `npm run docs` rewrites that page.
 */

/**
 * Who must act: the user, nobody (wait), the provider, the connector's author, the operator of svc,
 * or nobody (asked for).
 */
export type ErrorKind = "config" | "transient" | "source" | "connector" | "system" | "cancelled";

interface ErrorRow {
  readonly kind: ErrorKind;
  /** Status of an HTTP answer of the control API that fails for this reason. */
  readonly http: number;
  /**
   * One safe sentence. `{name}` is replaced by the detail of that name; a sentence part in `[…]`
   * goes when its detail is missing, and is text with its brackets where it names none.
   */
  readonly message: string;
  /** The next step of the person who must act. */
  readonly fix: string;
}

export const errorTable = {
  // config: the user must act
  CONFIG_INVALID: {
    kind: "config",
    http: 422,
    message: "The configuration is not valid[: {path} {problem}].",
    fix: "Correct that setting; `svc spec <connector>` lists them all.",
  },
  BASE_URL_REFUSED: {
    kind: "config",
    http: 422,
    message: "The URL in {field} is refused (rule: {rule}).",
    fix: "Enter an https:// URL of an approved host; an operator approves hosts in svc.config.yaml under approved_hosts.",
  },
  ADDRESS_REFUSED: {
    kind: "config",
    http: 422,
    message:
      "The host resolves to an address that connections may not be made to[ ({addressClass})].",
    fix: "Use a public address. For one in a private network or on this machine, the operator adds it to svc.config.yaml, as in allow_networks: [127.0.0.1/32], and starts svc again.",
  },
  LOCAL_REFUSED: {
    kind: "config",
    http: 422,
    message:
      "The connector's provider is declared on this machine (http, or localhost), which is for development only.",
    fix: "Pass --allow-local to svc read, check, discover or record while you write it; to run it anywhere else, declare the https:// URL of the provider.",
  },
  CREDENTIALS_REJECTED: {
    kind: "config",
    http: 424,
    message: "The provider did not accept the credentials.",
    fix: "Check that they are complete, not expired, and belong to this account.",
  },
  REAUTHORIZATION_NEEDED: {
    kind: "config",
    http: 424,
    message: "The provider no longer honours this authorisation.",
    fix: "Connect the account again.",
  },
  AUTHORIZATION_FAILED: {
    kind: "config",
    http: 422,
    message: "The account was not connected.",
    fix: "Start connecting it again, and finish in the same browser within ten minutes.",
  },
  PERMISSION_DENIED: {
    kind: "config",
    http: 422,
    message: "The credentials lack a permission[ for {stream}][: {reason}].",
    fix: "Grant the permission at the provider, or deselect what needs it.",
  },
  RESOURCE_NOT_FOUND: {
    kind: "config",
    http: 422,
    message: "The provider does not know what was asked for[: {reason}].",
    fix: "Check the ids and the base URL in the configuration.",
  },
  ACCESS_MISSING: {
    kind: "config",
    http: 422,
    message: "The account cannot be used[: {reason}].",
    fix: "Correct this at the provider, then run the check again.",
  },
  CATALOG_INVALID: {
    kind: "config",
    http: 422,
    message: "The configured catalog is not valid[: {path} {problem}].",
    fix: "Build it from the output of discover.",
  },
  STREAM_UNKNOWN: {
    kind: "config",
    http: 422,
    message: "There is no stream named {stream}.",
    fix: "Run discover to see the names.",
  },
  SYNC_MODE_UNSUPPORTED: {
    kind: "config",
    http: 422,
    message: "The stream {stream} does not support {syncMode}[: {problem}].",
    fix: "Choose one of the sync modes that discover lists, with a cursor field where it needs one.",
  },
  STATE_INVALID: {
    kind: "config",
    http: 422,
    message:
      "The saved state[ of {stream}] is not one that this connector wrote[: {path} {problem}].",
    fix: "Restore the last good state, or remove it to read everything again.",
  },
  TOO_MANY_TABLES: {
    kind: "config",
    http: 422,
    message: "{found} tables were found; at most {limit} can be synced at a time.",
    fix: "{hint}",
  },
  CATALOG_TOO_LARGE: {
    kind: "config",
    http: 422,
    message: "The catalog of the account is too large: {problem}.",
    fix: "Narrow the selection with the connector's include and exclude settings.",
  },
  ENTITIES_UNSUPPORTED: {
    kind: "config",
    http: 422,
    message: "This connector has no entities to choose settings from.",
    fix: "Enter the settings as `svc spec <connector>` describes them.",
  },
  CONNECTOR_UNKNOWN: {
    kind: "config",
    http: 404,
    message: "There is no connector of that name or path.",
    fix: "Use a name that `svc connectors` lists, the path of a module whose default export is defineSource(…) or of a declarative manifest, or image:NAME.",
  },
  CONNECTOR_DISABLED: {
    kind: "config",
    http: 409,
    message: "The operator has disabled this connector.",
    fix: "Ask the operator to enable it: `svc connectors enable <id>`.",
  },
  CONNECTOR_CHANGED: {
    kind: "config",
    http: 409,
    message: "The connector is not the one that the operator added: {problem}.",
    fix: "Ask the operator to look at what changed, and to add it again: `svc connectors add`.",
  },
  CONNECTOR_REMOVED: {
    kind: "config",
    http: 409,
    message: "The operator has removed this connector.",
    fix: "Ask the operator to add it again: `svc connectors add`. What was made with it is kept.",
  },
  SCHEMA_CHANGED: {
    kind: "config",
    http: 409,
    message: "The source has changed, and the pipeline is paused.",
    fix: "The job's log says what has changed. Resume the pipeline to go on with it.",
  },
  HOST_UNKNOWN: {
    kind: "config",
    http: 422,
    message: "The host name does not resolve.",
    fix: "Check the spelling of the host in the configuration. If it is the provider's own, this machine cannot look up names: check its DNS and its network.",
  },
  TLS_FAILED: {
    kind: "config",
    http: 422,
    message: "No trusted TLS connection could be made[: {reason}].",
    fix: "Check that the server's certificate is valid for this host, or the SSL settings. An authority of your own is trusted when its file is named in svc's environment: NODE_EXTRA_CA_CERTS.",
  },
  TUNNEL_FAILED: {
    kind: "config",
    http: 422,
    message: "The SSH tunnel could not be opened[: {reason}].",
    fix: "Check the tunnel's settings, and what its server allows: the user, the key, forwarding to the database.",
  },
  DATABASE_UNUSABLE: {
    kind: "config",
    http: 422,
    message: "The database cannot be used[: {reason}].",
    fix: "Check the database name and the rights of the user.",
  },
  TABLE_CONFLICT: {
    kind: "config",
    http: 422,
    message: "The table {name} is there already and does not belong to this connection.",
    fix: "Rename or drop it, or give the pipeline another prefix.",
  },
  DELETES_REFUSED: {
    kind: "config",
    http: 409,
    message: "No row of {stream} was taken for deleted[: {reason}].",
    fix: "Look at the source. If the rows are really gone, sync once with confirm_deletes (svc read: --confirm-deletes), or read the stream in full.",
  },
  QUERY_REFUSED: {
    kind: "config",
    http: 422,
    message: "The query is refused[: {reason}].",
    fix: "Write one SELECT that only reads tables of that database.",
  },
  QUERY_FAILED: {
    kind: "config",
    http: 422,
    message: "The query failed[: {reason}].",
    fix: "Run it against the database, correct it, and save it again.",
  },
  // transient: wait
  OUTPUT_BUSY: {
    kind: "transient",
    http: 503,
    message: "Another process is writing to the destination.",
    fix: "Nothing to do: the job is tried again.",
  },
  RATE_LIMITED: {
    kind: "transient",
    http: 429,
    message: "The provider's rate limit is used up.",
    fix: "Nothing to do: a later run goes on from the last checkpoint.",
  },
  CHANGES_LOST: {
    kind: "transient",
    http: 409,
    message: "The log has not all changes of {stream} any more[: {reason}].",
    fix: "Nothing to do: the next run reads its rows anew, and they take the place of those that are there when all have come.",
  },
  PROVIDER_UNAVAILABLE: {
    kind: "transient",
    http: 502,
    message: "The provider answered that it is unavailable[ (HTTP {status})].",
    fix: "Nothing to do: a later run goes on from the last checkpoint.",
  },
  CONNECTION_FAILED: {
    kind: "transient",
    http: 502,
    message: "The connection to the provider failed[: {reason}].",
    fix: "Check that the host and port are right and reachable, then run again.",
  },
  PROVIDER_TIMEOUT: {
    kind: "transient",
    http: 504,
    message: "The provider did not answer in time[ ({phase})].",
    fix: "Nothing to do: a later run goes on from the last checkpoint.",
  },
  WORKER_LOST: {
    kind: "transient",
    http: 503,
    message: "The process that ran the job has ended, or was cut off.",
    fix: "Nothing to do: another one goes on from the last commit.",
  },
  // source: the provider must act
  REQUEST_REJECTED: {
    kind: "source",
    http: 502,
    message: "The provider rejected a request[ (HTTP {status})][: {reason}].",
    fix: "Check the configuration; if it is right, the provider's API may have changed.",
  },
  RESPONSE_INVALID: {
    kind: "source",
    http: 502,
    message: "The provider's answer is not what its API promises[: {reason}].",
    fix: "Check that the base URL is the API's and not a web page's; otherwise the provider's API may have changed.",
  },
  RESPONSE_TOO_LARGE: {
    kind: "source",
    http: 502,
    message: "The provider's answer is larger than {limit} bytes.",
    fix: "Ask for smaller pages.",
  },
  REDIRECT_REFUSED: {
    kind: "source",
    http: 502,
    message: "The provider redirected a request to a place that is not declared.",
    fix: "Check that the base URL is the API's final address.",
  },
  PAGING_LOOP: {
    kind: "source",
    http: 502,
    message: "The provider's pages of {stream} repeat without end.",
    fix: "Report this to the provider; a smaller page size sometimes avoids it.",
  },
  DATA_CHANGED: {
    kind: "transient",
    http: 502,
    message: "The data changed while its pages were being read.",
    fix: "Nothing to do: a later run starts from the last checkpoint.",
  },
  SYNC_STATE_EXPIRED: {
    kind: "config",
    http: 409,
    message: "The provider no longer knows the saved position of {stream}.",
    fix: "Remove the saved state of this stream to read it from the beginning.",
  },
  // connector: its author must act
  CONNECTOR_INVALID: {
    kind: "connector",
    http: 500,
    message: "The connector's definition is not valid[: {path} {problem}].",
    fix: "Correct that in the connector itself, which is its module, manifest or image, then run it again.",
  },
  CONNECTOR_FAILED: {
    kind: "connector",
    http: 500,
    message: "The connector failed with a {name}[ in {file}, line {line}][, which is {path}].",
    fix: "Run a module with --sandbox inline under a debugger to see the original error; the log of an image is in `svc run … --debug`.",
  },
  CONNECTOR_EXITED: {
    kind: "connector",
    http: 500,
    message: "The connector's process ended before its work was done[ ({reason})].",
    fix: "A module must not call process.exit or end its own process; why an image ended is in its log: `svc run … --debug`.",
  },
  CONNECTOR_OUT_OF_MEMORY: {
    kind: "connector",
    http: 500,
    message: "The connector needed more than its {limitMb} MB of memory.",
    fix: "Yield smaller batches, or raise the limit with --memory.",
  },
  CONNECTOR_TIMEOUT: {
    kind: "connector",
    http: 500,
    message: "The connector did not {phase} within {limitSeconds} seconds.",
    fix: "Look for an endless loop, or a wait without an end: in a module, one that ignores ctx.signal.",
  },
  CONNECTOR_PROTOCOL: {
    kind: "connector",
    http: 500,
    message: "The connector broke the worker protocol[: {problem}][, in {file}, line {line}].",
    fix: "In a module, give the functions of ctx, record, records and checkpoint what their types ask for; a value that comes from the provider may be missing. An image says one message of the Airbyte Protocol a line.",
  },
  CONNECTOR_FORBIDDEN: {
    kind: "connector",
    http: 500,
    message: "The connector tried to use {resource}, which the sandbox refuses.",
    fix: "In a module, use ctx.http, ctx.clock and ctx.log: it has no files, sockets, processes or secrets, and names those in egress. An image reaches the hosts that --allow-host names.",
  },
  RECORD_INVALID: {
    kind: "connector",
    http: 500,
    message: "A record of {stream} cannot be written[: {problem}].",
    fix: "Give rows that match the stream's schema, as plain objects; the primary key and cursor must be present.",
  },
  RECORD_TOO_LARGE: {
    kind: "connector",
    http: 500,
    message: "A record of {stream} is larger than {limit} bytes[: {problem}].",
    fix: "Leave out the large field, or deselect it.",
  },
  STATE_TOO_LARGE: {
    kind: "connector",
    http: 500,
    message: "A checkpoint of {stream} is larger than {limit} bytes or not plain JSON.",
    fix: "Keep only cursors in the state.",
  },
  // system: the operator must act
  LEAK_BLOCKED: {
    kind: "system",
    http: 500,
    message: "Output was stopped because it held a secret that could not be removed.",
    fix: "Report this with the connector's name; nothing of that message was written.",
  },
  SANDBOX_UNAVAILABLE: {
    kind: "system",
    http: 503,
    message: "The sandbox level {level} is not available here[: {problem}].",
    fix: "Install what it needs, or choose another level.",
  },
  OUTPUT_FAILED: {
    kind: "system",
    http: 500,
    message: "The output could not be written[: {reason}].",
    fix: "Check free space and permissions, then run again: it goes on from the last checkpoint.",
  },
  OUTPUT_FENCED: {
    kind: "system",
    http: 409,
    message: "A later attempt writes to this destination now. Nothing more was written.",
    fix: "Nothing to do: the later attempt goes on from the last commit.",
  },
  INTERNAL: {
    kind: "system",
    http: 500,
    message: "Something in svc itself failed.",
    fix: "Run again; if it persists, report it with the time of the run.",
  },
  CANCELLED: {
    kind: "cancelled",
    http: 499,
    message: "The run was cancelled.",
    fix: "Run again: it goes on from the last checkpoint.",
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

/**
 * Facts that a message may name. Anything else is dropped. Text is cut to one line of 200
 * characters.
 */
export const detailNames = [
  "path",
  "problem",
  "field",
  "rule",
  "addressClass",
  "stream",
  "syncMode",
  "reason",
  "found",
  "limit",
  "hint",
  "status",
  "phase",
  "name",
  "file",
  "line",
  "limitMb",
  "limitSeconds",
  "resource",
  "level",
] as const;
export type ErrorDetails = { readonly [name in (typeof detailNames)[number]]?: string | number };

/** An error as it crosses a process border, a wire or HTTP. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  /** One line, at most 500 characters: what happened and what to do. */
  readonly message: string;
  readonly details?: ErrorDetails;
  readonly stream?: string;
  readonly retryAfterMs?: number;
}

/**
 * The one error class. The code alone decides retry, exit status, HTTP status and who must act.
 * It carries no cause and no foreign text, so printing it in any way prints only its record.
 */
export class ConnectorError extends Error {
  override readonly name = "ConnectorError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly retryAfterMs: number | undefined;

  /** @param retryAfterMs time after which the provider will accept another try, when it said so. */
  constructor(code: ErrorCode, details: ErrorDetails = {}, retryAfterMs?: number) {
    const kept = keepDetails(details);
    super(renderMessage(code, kept));
    this.code = code;
    this.details = kept;
    this.retryAfterMs = retryAfterMs;
  }

  get kind(): ErrorKind {
    return errorTable[this.code].kind;
  }

  /** The plain record; the only form in which an error leaves. */
  toRecord(stream?: string): ErrorRecord {
    return {
      code: this.code,
      message: this.message,
      ...(Object.keys(this.details).length > 0 ? { details: this.details } : {}),
      ...(stream === undefined ? {} : { stream }),
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
    };
  }

  toJSON(): ErrorRecord {
    return this.toRecord();
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `${this.code}: ${this.message}`;
  }
}

/** True when a later try may succeed without anyone acting. */
export function isRetryable(code: ErrorCode): boolean {
  return errorTable[code].kind === "transient";
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === "string" && Object.hasOwn(errorTable, value);
}

/**
 * Rebuilds an error from a record of a worker, which is not trusted: unknown codes and details are
 * dropped, the message is made anew.
 */
export function fromErrorRecord(value: unknown): ConnectorError {
  const record = (value ?? {}) as Partial<ErrorRecord>;
  if (!isErrorCode(record.code))
    return new ConnectorError("CONNECTOR_PROTOCOL", { problem: "unknown error code" });
  const retryAfterMs = Number.isFinite(record.retryAfterMs)
    ? Number(record.retryAfterMs)
    : undefined;
  return new ConnectorError(record.code, record.details ?? {}, retryAfterMs);
}

/**
 * Also true for an error of another copy of this package, as a connector outside this installation
 * has one.
 */
export function isConnectorError(error: unknown): error is ConnectorError {
  if (error instanceof ConnectorError) return true;
  const candidate = error as Partial<ConnectorError> | null | undefined;
  return (
    candidate instanceof Error && candidate.name === "ConnectorError" && isErrorCode(candidate.code)
  );
}

/**
 * Everything that is not already a ConnectorError becomes `fallback`: a foreign error is never
 * passed on.
 */
export function toConnectorError(error: unknown, fallback: ErrorCode = "INTERNAL"): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof Error && error.name === "AbortError") return new ConnectorError("CANCELLED");
  return new ConnectorError(fallback);
}

function keepDetails(details: ErrorDetails): ErrorDetails {
  const kept: Record<string, string | number> = {};
  for (const name of detailNames) {
    const value = details?.[name];
    if (typeof value === "number" && Number.isFinite(value)) kept[name] = value;
    else if (typeof value === "string" && value !== "") kept[name] = oneLine(value);
  }
  return kept;
}

/** One line of at most 200 characters without control characters. */
function oneLine(text: string): string {
  const flat = text
    .slice(0, 1000)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff]+/gu, " ")
    .trim();
  return flat.length > 200 ? `${flat.slice(0, 199)}…` : flat;
}

function renderMessage(code: ErrorCode, details: ErrorDetails): string {
  const row: ErrorRow = errorTable[code];
  const fill = (text: string) =>
    text
      .replaceAll("<connector>", String(details.name ?? "<connector>"))
      .replace(/\[([^\]]*)\]/g, (whole, part: string) => {
        const names = placeholders(part);
        if (names.length === 0) return whole;
        return names.every((name) => name in details) ? part : "";
      })
      .replace(/\{(\w+)\}/g, (_, name: string) =>
        String(details[name as keyof ErrorDetails] ?? "?"),
      );
  return `${fill(row.message)} ${fill(row.fix)}`.slice(0, 500);
}

const placeholders = (text: string) =>
  [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
