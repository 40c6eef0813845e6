/**
 * The worker's side of an authenticated session: it starts up like any client and needs no
 * password.
 */
import type { Duplex } from "node:stream";
import type { LoggedIn } from "./postgres-login.ts";
import { createAnswerGauge, toStartupAnswer } from "./postgres-messages.ts";
import { createRelayStream, startupError } from "./relay-stream.ts";

interface RelayOptions {
  /**
   * The client is in this process, and not behind a worker's limit of memory: answers that would
   * fill it end the stream.
   */
  readonly isInHost?: boolean | undefined;
  /** Says whether the next bytes of the client may go on; else the stream ends. */
  readonly mayForward?: ((chunk: Buffer) => boolean) | undefined;
}

/** Codes in the place of a protocol version. Protocol section 55.7. */
const requestCodes = { cancel: 80_877_102, ssl: 80_877_103, gss: 80_877_104 } as const;
/** The server's own bound, MAX_STARTUP_PACKET_LENGTH. */
const maxStartupBytes = 10_000;

/**
 * A byte stream on which a client can start: requests for encryption are answered with no, the
 * start-up message (whatever its user and database) with the session that exists. From then on
 * bytes pass unchanged both ways. A cancel request ends the stream.
 */
export function createRelay(
  { parameters, ...session }: LoggedIn,
  { isInHost = false, mayForward }: RelayOptions = {},
): Duplex {
  let startup: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    startup = Buffer.concat([startup, chunk]);
    const answers: Buffer[] = [];
    while (startup.length >= 8) {
      const length = startup.readUInt32BE(0);
      const code = startup.readUInt32BE(4);
      if (length < 8 || length > maxStartupBytes) return startupError();
      if (startup.length < length) break;
      startup = startup.subarray(length);
      if (code === requestCodes.ssl || code === requestCodes.gss) answers.push(Buffer.from("N"));
      else if (code >>> 16 !== 3) return startupError();
      else {
        const answer = Buffer.concat([...answers, toStartupAnswer(parameters)]);
        return { answer, left: startup };
      }
    }
    return { answer: Buffer.concat(answers) };
  };
  return createRelayStream(
    session,
    { take },
    isInHost ? createAnswerGauge() : undefined,
    mayForward,
  );
}
