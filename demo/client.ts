import { setTimeout as pause } from "node:timers/promises";
import { basePath } from "svc-connectors/control";

/** What an answer's body holds. */
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
  /** What it says when it is no success. */
  readonly problem: string | undefined;
}

/**
 * Asks as somebody. Gives `data` of the answer.
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
      ...(body ? { body: JSON.stringify(body) } : {}),
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

/** What takes longer than this here does not end. */
const longestMs = 120_000;

/**
 * Looks again and again until `look` gives something.
 * @throws DemoFailed when it never does · AbortError when the signal ends it
 */
export async function until<T>(
  what: string,
  signal: AbortSignal,
  look: () => Promise<T | undefined>,
): Promise<NonNullable<T>> {
  const untilMs = performance.now() + longestMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null) return found;
    if (performance.now() > untilMs) throw new DemoFailed(`${what} has not ended`);
    await pause(250, undefined, { signal });
  }
}
