/**
 * Answers for what never becomes a whole request of Fastify's: broken HTTP, CONNECT, expectations
 * that nobody knows.
 */
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyRequest } from "fastify";
import { ControlError, type Reason } from "../contract/reasons.ts";
import { type Answer, errorBody } from "../door/answer.ts";
import type { Control } from "../door/control.ts";
import { answerRefusal, envelopeHeaders, reasonOf } from "./refusals.ts";

/** Requests that expect what nobody knows. */
const unmet = new WeakSet<IncomingMessage>();
/** The request that has come last on each socket. */
const latest = new WeakMap<Duplex, FastifyRequest>();

export function answerStrangeRequests(server: Server): void {
  // Refused as a request of its route, like others.
  server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request);
    response.shouldKeepAlive = false;
    server.emit("request", request, response);
  });
  server.on("connect", (_request, socket) => answerSocket(socket, toAnswer("malformed_request")));
}

/**
 * Notes a request whose head has come.
 * @throws expectation_failed
 */
export function noteRequest(request: FastifyRequest): void {
  latest.set(request.raw.socket, request);
  if (unmet.has(request.raw)) throw new ControlError("expectation_failed");
}

/** The response that a socket is about to send, as Node keeps it. */
type Busy = Duplex & { readonly _httpMessage?: ServerResponse | null };

/**
 * Says why a connection ends. An answer that is on its way to a request that came whole is sent
 * first; in the middle of an answer nothing can be said.
 */
export function answerBrokenRequest(control: Control, error: Error, socket: Busy): void {
  const reason = reasonOf(error) ?? "malformed_request";
  const isGone = (error as NodeJS.ErrnoException).code === "ECONNRESET" || !socket.writable;
  const running = socket._httpMessage;
  const answer = () => answerSocket(socket, toAnswer(reason));
  if (isGone) socket.destroy();
  else if (!running) answer();
  else if (running.req.complete) running.once("finish", answer);
  else if (running.headersSent) socket.destroy();
  else void refuseRunning(control, reason, socket);
}

/** Refuses a request in the middle of its body, as one that its sender's token pays for. */
async function refuseRunning(control: Control, reason: Reason, socket: Duplex): Promise<void> {
  const request = latest.get(socket);
  const answer = request
    ? await answerRefusal(control, new ControlError(reason), request).catch(() => undefined)
    : undefined;
  answerSocket(socket, answer ?? toAnswer(reason));
}

function answerSocket(socket: Duplex, answer: Answer): void {
  if (!socket.writable) return void socket.destroy();
  const { requestId, status, body } = answer;
  const headers = {
    ...answer.headers,
    ...envelopeHeaders,
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
  };
  const lines = Object.entries({ ...headers, connection: "close" }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end(
    `${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n")}\r\n\r\n${body}`,
  );
}

function toAnswer(reason: Reason): Answer {
  const requestId = randomUUID();
  return { requestId, ...errorBody(new ControlError(reason), requestId) };
}
