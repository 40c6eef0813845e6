import type { Operation, OperationContext, StreamMedia } from "../contract/operation.ts";
import { ControlError, type Reason } from "../contract/reasons.ts";
import type { CompiledOperation } from "./compile.ts";

/** An answer, as it goes back. */
export interface Answer {
  readonly requestId: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole envelope as JSON text; of a stream: empty. */
  readonly body: string;
  readonly stream?: AnswerStream | undefined;
  /** Reason of a failure. */
  readonly reason?: Reason | undefined;
}

/** An answer that comes bit by bit. */
export interface AnswerStream {
  readonly media: StreamMedia;
  /**
   * The text of what there is to tell now; it may be empty.
   * @throws when the stream must break off and its form has no word for it
   */
  look(): Promise<StreamPart>;
}

export interface StreamPart {
  readonly text: string;
  readonly isOver: boolean;
  readonly hasMore: boolean;
}

/** A resource's version as a header. */
export function etagOf(data: object): string | undefined {
  const { version } = data as { version?: unknown };
  return typeof version === "number" ? `"v${version}"` : undefined;
}

/**
 * The data of an answer as JSON text: only what the operation declares is in it. It is searched for
 * every secret that the request has met. One that is there is a bug of ours: the answer is
 * withheld, and what was not committed yet is not.
 * @throws internal
 */
export function dataText(
  compiled: CompiledOperation,
  ctx: OperationContext,
  status: number,
  data: object,
): string {
  const isProposal = status === 202 && "approval_id" in data && "payload_digest" in data;
  const text = isProposal ? compiled.stringifyProposal(data) : compiled.stringify(data);
  if (ctx.secrets.contains(Buffer.from(text))) {
    ctx.services.log.error("an answer held a secret and was withheld", {
      request_id: ctx.requestId,
    });
    throw new ControlError("internal");
  }
  return text;
}

/** The data of an answer as it may be kept: without what is shown once. */
export function keptData(operation: Operation, data: object): object {
  const { shownOnce = [] } = operation.effect === "write" ? operation : {};
  return { ...data, ...Object.fromEntries(shownOnce.map((name) => [name, null])) };
}

/** The envelope of a success. */
export const successBody = (requestId: string, text: string): string =>
  `{"request_id":"${requestId}","data":${text}}`;

/** The envelope of a failure. */
export function errorBody(
  { status, message, reason, details, headers: own }: ControlError,
  requestId: string,
  headers: Readonly<Record<string, string>> = {},
): Omit<Answer, "requestId"> {
  const body = JSON.stringify({
    code: String(status),
    message,
    details: { reason, ...details },
    request_id: requestId,
  });
  return { status, headers: { ...headers, ...own }, body, reason };
}
