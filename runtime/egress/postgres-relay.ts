/**
 * The worker's side of an authenticated session: it starts up like any client and needs no
 * password.
 */
import { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import { asSocket } from "../wire/as-socket.ts";
import { toConnectionError } from "./connection-errors.ts";
import type { LoggedIn } from "./postgres-login.ts";
import { createAnswerGauge, toStartupAnswer } from "./postgres-messages.ts";

/** Codes in the place of a protocol version. Protocol section 55.7. */
const requestCodes = { cancel: 80_877_102, ssl: 80_877_103, gss: 80_877_104 } as const;
/** The server's own bound, MAX_STARTUP_PACKET_LENGTH. */
const maxStartupBytes = 10_000;
/** Bytes that wait for a slow worker before the server is slowed down. */
const readAheadBytes = 256 * 1024;

/**
 * A byte stream on which a client can start: requests for encryption are answered with no, the
 * start-up message (whatever its user and database) with the session that exists. From then on
 * bytes pass unchanged both ways. A cancel request ends the stream.
 * @param isInHost the client is in this process, and not behind a worker's limit of memory: answers
 * that would fill it end the stream
 */
export function createRelay({ socket, parameters, rest }: LoggedIn, isInHost = false): Duplex {
  const mayPass = isInHost ? createAnswerGauge() : () => true;
  let isStarted = false;
  let startup: Buffer = Buffer.alloc(0);

  const relay = new Duplex({
    readableHighWaterMark: readAheadBytes,
    allowHalfOpen: false,
    read() {
      if (isStarted) socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (isStarted) return forward(chunk, done);
      startup = Buffer.concat([startup, chunk]);
      const left = answerStartup();
      if (left instanceof ConnectorError) return done(left);
      if (left.length > 0) return forward(left, done);
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

  function forward(chunk: Buffer, done: (error?: Error) => void): void {
    const settle = () => {
      socket.off("drain", settle).off("close", settle);
      done();
    };
    if (socket.destroyed) done(connectionLost());
    else if (socket.write(chunk)) done();
    else socket.on("drain", settle).on("close", settle);
  }

  /**
   * Takes whole start-up packets. Gives what follows the last one, or an error that ends the
   * stream.
   */
  function answerStartup(): Buffer | ConnectorError {
    while (!isStarted && startup.length >= 8) {
      const length = startup.readUInt32BE(0);
      const code = startup.readUInt32BE(4);
      if (length < 8 || length > maxStartupBytes) return protocolError();
      if (startup.length < length) break;
      startup = startup.subarray(length);
      if (code === requestCodes.ssl || code === requestCodes.gss) relay.push("N");
      else if (code >>> 16 === 3) start();
      else return protocolError();
    }
    if (!isStarted) return Buffer.alloc(0);
    const left = startup;
    startup = Buffer.alloc(0);
    return left;
  }

  function start(): void {
    isStarted = true;
    relay.push(toStartupAnswer(parameters));
    const pass = (chunk: Buffer) => {
      if (!mayPass(chunk)) relay.destroy(answerTooLarge());
      else if (!relay.push(chunk)) socket.pause();
    };
    if (rest.length > 0) pass(rest);
    socket.on("data", pass);
    socket.resume();
  }

  return asSocket(relay);
}

const answerTooLarge = () =>
  new ConnectorError("CONNECTION_FAILED", { reason: "an answer of the server is too large" });
const connectionLost = () => new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
const protocolError = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", {
    problem: "the database session did not start as one",
  });
