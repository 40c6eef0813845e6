import { readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { request } from "undici";
import type { Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { createMcpServer, createTools, type WayToDoor } from "./server.ts";

export interface StdioOptions {
  readonly operations: readonly Operation[];
  /** Address of version 1 of the Control API: it ends with /control/v1. */
  readonly baseUrl: URL;
  /** The file with the access token. It is read anew for each request: tokens end. */
  readonly tokenFile: string;
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

/** Most bytes of an answer. */
const maxAnswerBytes = 16_777_216;
/** A server answers earlier than that, whatever it does. */
const answerTimeoutMs = 120_000;

/**
 * Serves the tools to the program that has started this one, and asks the Control API for all that
 * they do. Ends with its input.
 */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { operations, input, output, signal } = options;
  const tools = createTools(operations);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const transport = new StdioServerTransport(input, output, { maxBufferSize: maxAnswerBytes });
  const handle = serveStdio(() => createMcpServer(tools, { ask: askThere(options) }), {
    transport,
    onerror: () => undefined,
  });
  input.once("end", end).once("close", end);
  signal.addEventListener("abort", () => end(), { once: true });
  if (signal.aborted) end();
  await ended;
  await handle.close();
}

const askThere =
  ({ baseUrl, tokenFile }: StdioOptions): WayToDoor["ask"] =>
  async ({ operation, params, query, body, executionMode, idempotencyKey }, signal) => {
    const token = (await readFile(tokenFile, "utf8")).trim();
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ""),
    );
    const search = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    );
    try {
      const answer = await request(
        `${baseUrl.origin}${baseUrl.pathname}${path}${search.size > 0 ? `?${search}` : ""}`,
        {
          method: operation.method,
          headers: {
            authorization: `Bearer ${token}`,
            accept: "application/json",
            "x-svc-client": "mcp",
            ...(body ? { "content-type": "application/json" } : {}),
            ...(executionMode === undefined ? {} : { "x-svc-execution-mode": executionMode }),
            ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
          },
          body: body ? JSON.stringify(body) : null,
          signal,
          headersTimeout: answerTimeoutMs,
          bodyTimeout: answerTimeoutMs,
        },
      );
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch {
      throw new ControlError("overloaded", {
        problem: "the Control API does not answer at SVC_API_BASE_URL",
      });
    }
  };
