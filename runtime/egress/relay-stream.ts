/**
 * The worker's side of a session that the host has authenticated: a byte stream that passes
 * everything, once the worker's client has started as it would at a server.
 */
import { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import { asSocket } from "../wire/as-socket.ts";
import { toConnectionError } from "./connection-errors.ts";

/** Bytes that wait for a slow worker before the server is slowed down. */
const readAheadBytes = 256 * 1024;

export interface RelayStart {
  /** The bytes that a server says before its client has said anything. */
  readonly greeting?: Buffer | undefined;
  /**
   * Takes what the client sends. Gives what it is answered, and, once it has started, the bytes
   * that follow; or an error that ends the stream.
   */
  take(
    chunk: Buffer,
  ): { readonly answer: Buffer; readonly left?: Buffer | undefined } | ConnectorError;
}

export interface RelayedSession {
  readonly socket: Duplex;
  /** Bytes that the server has said already, and the client has not seen. */
  readonly rest: Buffer;
}

/**
 * @param mayPass says whether the next bytes of the server may go on; else the stream ends
 * @param mayForward the same for bytes of the worker
 */
export function createRelayStream(
  { socket, rest }: RelayedSession,
  start: RelayStart,
  mayPass: (chunk: Buffer) => boolean = () => true,
  mayForward: (chunk: Buffer) => boolean = () => true,
): Duplex {
  let isStarted = false;

  const relay = new Duplex({
    readableHighWaterMark: readAheadBytes,
    allowHalfOpen: false,
    read() {
      if (isStarted) socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (isStarted) return forward(chunk, done);
      const taken = start.take(chunk);
      if (taken instanceof ConnectorError) return done(taken);
      if (taken.answer.length > 0) relay.push(taken.answer);
      if (taken.left === undefined) return done();
      pass();
      if (taken.left.length > 0) return forward(taken.left, done);
      done();
    },
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  // Without a listener a failure would end the host; whoever uses the stream sees it closed.
  relay.on("error", () => {});
  socket.on("error", (error) => relay.destroy(toConnectionError(error)));
  // Not destroyed: what the server said last is still to be read.
  socket.on("end", () => relay.push(null)).on("close", () => relay.push(null));
  if (socket.destroyed) relay.destroy(connectionLost());
  else if (start.greeting) relay.push(start.greeting);

  function forward(chunk: Buffer, done: (error?: Error) => void): void {
    const settle = () => {
      socket.off("drain", settle).off("close", settle);
      done();
    };
    if (!mayForward(chunk)) done(notAllowed());
    else if (socket.destroyed) done(connectionLost());
    else if (socket.write(chunk)) done();
    else socket.on("drain", settle).on("close", settle);
  }

  function pass(): void {
    isStarted = true;
    const take = (chunk: Buffer) => {
      if (!mayPass(chunk)) relay.destroy(answerTooLarge());
      else if (!relay.push(chunk)) socket.pause();
    };
    if (rest.length > 0) take(rest);
    socket.on("data", take);
    socket.resume();
  }

  return asSocket(relay);
}

const answerTooLarge = () =>
  new ConnectorError("CONNECTION_FAILED", { reason: "an answer of the server is too large" });
const notAllowed = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", {
    problem: "it says to the server what this session is not for",
  });
const connectionLost = () => new ConnectorError("CONNECTION_FAILED", { reason: "reset" });

/** The worker's client says something else than a client that starts. */
export const startupError = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", {
    problem: "the database session did not start as one",
  });
