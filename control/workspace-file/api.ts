/** Asks a Control API for a command, with the token of the person who calls it. */
import { type Clock, ConnectorError, printable } from "svc-connectors/host";
import { request } from "undici";

export interface ApiOptions {
  /** Address of version 1 of the Control API: it ends with /control/v1. */
  readonly baseUrl: URL;
  readonly token: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One place of a request that was refused. */
export interface RefusedField {
  readonly path: string;
  readonly message: string;
}

/** The Control API refused, or did not answer. Its message is the API's own. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0: there was no answer. */
  readonly status: number;
  readonly reason: string;
  readonly fields: readonly RefusedField[];

  constructor(
    status: number,
    reason: string,
    message: string,
    fields: readonly RefusedField[] = [],
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.fields = fields;
  }

  /** Whatever is asked next would end in the same way. */
  get isForAll(): boolean {
    return [0, 401, 403].includes(this.status) || this.status >= 500;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a resource of the API, as its document says
export type Resource = any;

export interface WriteOptions {
  /** The version that was looked at: another one is refused. */
  readonly version?: number | undefined;
}

/**
 * The Control API, of one workspace. Nothing is a proposal unless the token's client makes some.
 */
export interface Api {
  get(path: string): Promise<Resource>;
  /** All pages of a list. */
  list(path: string): Promise<readonly Resource[]>;
  /** @throws ApiError with the reason "proposed" when it became a proposal */
  write(
    method: "POST" | "PATCH" | "DELETE",
    path: string,
    body?: object,
    options?: WriteOptions,
  ): Promise<Resource>;
  /** The same API, of a workspace. */
  in(workspaceId: string): Api;
}

/** A server answers earlier than that, whatever it does. */
const answerTimeoutMs = 300_000;
/** Longest wait for a budget of requests: they are counted in minutes. */
const maxWaitSeconds = 120;
const pageSize = 200;

export function createApi(options: ApiOptions, workspaceId?: string): Api {
  const { baseUrl, token, clock, signal } = options;

  const ask = async (
    method: string,
    path: string,
    body?: object,
    { version }: WriteOptions = {},
  ): Promise<Resource> => {
    for (;;) {
      const { statusCode, headers, text } = await answerOf(`${baseUrl.href}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          accept: "application/json",
          ...(workspaceId === undefined ? {} : { "x-svc-workspace-id": workspaceId }),
          ...(body ? { "content-type": "application/json" } : {}),
          ...(version === undefined ? {} : { "if-match": `"v${version}"` }),
        },
        body: body ? JSON.stringify(body) : null,
      });
      const answer = parsed(text);
      if (statusCode === 429) {
        const seconds = Number(headers["retry-after"]);
        if (seconds > 0 && seconds <= maxWaitSeconds) {
          await clock.sleep(seconds * 1_000, signal);
          continue;
        }
      }
      if (statusCode >= 300 || answer?.data === undefined) throw refusalOf(statusCode, answer);
      if (statusCode === 202 && answer.data.approval_id)
        throw new ApiError(
          202,
          "proposed",
          `waits for the approval ${printable(String(answer.data.approval_id))}`,
        );
      return answer.data;
    }
  };

  const answerOf = async (url: string, call: object) => {
    try {
      const { statusCode, headers, body } = await request(url, {
        ...call,
        signal,
        headersTimeout: answerTimeoutMs,
        bodyTimeout: answerTimeoutMs,
      });
      return { statusCode, headers, text: await body.text() };
    } catch {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      throw new ApiError(0, "unreachable", `the Control API does not answer at ${baseUrl.href}`);
    }
  };

  return {
    get: (path) => ask("GET", path),
    async list(path) {
      const items: Resource[] = [];
      let cursor: string | null = null;
      do {
        const query = new URLSearchParams({
          limit: String(pageSize),
          ...(cursor === null ? {} : { cursor }),
        });
        const page: Resource = await ask("GET", `${path}?${query}`);
        items.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      return items;
    },
    write: ask,
    in: (id) => createApi(options, id),
  };
}

function parsed(text: string): Resource {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusalOf(status: number, answer: Resource): ApiError {
  const { message, details } = answer ?? {};
  if (typeof message !== "string")
    return new ApiError(
      status,
      "not_the_api",
      `what answers is not the Control API (status ${status}): look at --server`,
    );
  const errors: unknown = details?.errors;
  const fields = (Array.isArray(errors) ? errors : []).flatMap(({ path, message: text }) =>
    typeof path === "string" && typeof text === "string"
      ? [{ path: printable(path), message: printable(text, 300) }]
      : [],
  );
  const more = [details?.problem, details?.error_message, details?.check?.message]
    .filter((part) => typeof part === "string")
    .map((part) => ` ${printable(part, 300)}`)
    .join("");
  return new ApiError(
    status,
    String(details?.reason ?? ""),
    `${printable(message, 300)}${more}`,
    fields,
  );
}
