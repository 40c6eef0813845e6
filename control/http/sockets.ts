/**
 * Answers for what never becomes a request of Fastify's: broken HTTP, CONNECT, expectations that
 * nobody knows.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { ControlError, type Reason } from "../contract/reasons.ts";
import { errorBody } from "../door/answer.ts";
import { reasonOf } from "./refusals.ts";

export function answerStrangeRequests(server: Server): void {
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const { status, headers, body } = toAnswer("expectation_failed");
    response.writeHead(status, { ...headers, connection: "close" }).end(body);
  });
  server.on("connect", (_request, socket) => answerSocket(socket, "malformed_request"));
}

/** The response that a socket is about to send, as Node keeps it. */
type Busy = Duplex & { readonly _httpMessage?: ServerResponse | null };

/**
 * Says why a connection ends. An answer that is on its way to a request that came whole is sent
 * first; in the middle of an answer nothing can be said.
 */
export function answerBrokenRequest(error: Error, socket: Busy): void {
  const reason = reasonOf(error) ?? "malformed_request";
  const isGone = (error as NodeJS.ErrnoException).code === "ECONNRESET" || !socket.writable;
  const running = socket._httpMessage;
  if (isGone) socket.destroy();
  else if (!running) answerSocket(socket, reason);
  else if (running.req.complete) running.once("finish", () => answerSocket(socket, reason));
  else if (running.headersSent) socket.destroy();
  else answerSocket(socket, reason);
}

function answerSocket(socket: Duplex, reason: Reason): void {
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = toAnswer(reason);
  const lines = Object.entries({ ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end(
    `${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n")}\r\n\r\n${body}`,
  );
}

function toAnswer(reason: Reason) {
  const requestId = randomUUID();
  const { status, body } = errorBody(new ControlError(reason), requestId);
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
  };
  return { status, headers, body };
}
