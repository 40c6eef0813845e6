import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";

/**
 * Bytes that wait for a slow reader. The library asks for 2 MiB at a time, but takes more from a
 * server that sends more.
 */
const maxWaitingBytes = 4 * 1024 ** 2;

/**
 * A channel of an SSH connection as a stream that behaves as a socket does: destroying it ends the
 * connection, and when the connection is lost whoever writes learns of it. What has arrived before
 * can still be read.
 */
export function createTunnelStream(channel: Duplex, connection: Socket): Duplex {
  /** Goes on when the server has room again. */
  let waiting: ((error?: Error) => void) | undefined;
  let isOver = connection.destroyed;
  const settle = (error?: Error) => {
    const done = waiting;
    waiting = undefined;
    done?.(error);
  };
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => void channel.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (isOver) return done(lost());
      waiting = done;
      if (channel.write(chunk)) settle();
    },
    final(done) {
      if (!isOver) channel.end();
      done();
    },
    destroy(error, done) {
      if (!isOver) channel.end();
      // Bytes that were written before are still sent.
      connection.destroySoon();
      done(error);
    },
  });
  const end = () => {
    isOver = true;
    settle(lost());
    channel.resume();
  };
  channel
    .on("data", (chunk: Buffer) => {
      if (!stream.push(chunk)) channel.pause();
    })
    .on("drain", () => settle())
    .on("error", () => {})
    // One packet may bring the server's last words, the end and the close: whoever hears the words
    // gets a turn before the stream is over, as with a socket.
    .on("end", () => setImmediate(() => stream.push(null)))
    .on("close", () => setImmediate(end));
  connection
    .once("close", () => setImmediate(end))
    .on("data", () => {
      if (channel.readableLength > maxWaitingBytes) connection.destroy();
    });
  // Whoever uses the stream sees it closed; without a listener a failure would end the host.
  stream.on("error", () => {});
  if (isOver) end();
  return stream;
}

const lost = () => new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
