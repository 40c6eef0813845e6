import { setTimeout as pause } from "node:timers/promises";
import { basePath } from "svc-connectors/control";

/** The `data` of an answer's body. */
// biome-ignore lint/suspicious/noExplicitAny: a person reads it, no program
export type Data = any;

/** The service did not do what it promises. */
export class DemoFailed extends Error {
  override readonly name = "DemoFailed";
}

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The whole answer. */
  readonly text: string;
  /** Reason and message of an answer that is no success. */
  readonly problem: string | undefined;
}

/**
 * Sends a request of the Control API with somebody's token. Gives `data` of the answer.
 * @throws DemoFailed when its status is not the expected one
 */
export type Ask = (
  expected: number,
  method: "GET" | "POST" | "PATCH" | "DELETE",
  path: string,
  body?: object,
  token?: string,
) => Promise<Data>;

export function createClient(
  url: string,
  editor: string,
  onExchange?: (exchange: Exchange) => Promise<void> | void,
): Ask {
  return async (expected, method, path, body, token = editor) => {
    const response = await fetch(`${url}${basePath}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body ? { "content-type": "application/json" } : {}),
      },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await response.text();
    const { status } = response;
    const { data, message, details } = JSON.parse(text) as {
      data?: Data;
      message?: string;
      details?: { reason: string };
    };
    const problem = message === undefined ? undefined : `${details?.reason}: ${message}`;
    await onExchange?.({ method, path, status, text, problem });
    if (status !== expected)
      throw new DemoFailed(
        `${method} ${path} should have been answered with ${expected}, not ${status} ${problem}`,
      );
    return data;
  };
}

/** A step of the demo that takes longer has failed. */
const maxStepMs = 120_000;

/**
 * Calls `look` again and again until it gives something.
 * @throws DemoFailed when it never does · AbortError when the signal ends it
 */
export async function until<T>(
  what: string,
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<NonNullable<T>> {
  const deadlineMs = performance.now() + maxStepMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null) return found;
    if (performance.now() > deadlineMs) throw new DemoFailed(`${what} has not ended`);
    await pause(250, undefined, { signal });
  }
}
