import type { Duplex } from "node:stream";

/**
 * Gives a byte stream what database drivers expect of a socket beyond a stream; it is connected
 * already.
 */
export function asSocket<Stream extends Duplex>(stream: Stream): Stream {
  return Object.assign(stream, {
    connect: () => void process.nextTick(() => stream.emit("connect")),
    setNoDelay() {},
    setKeepAlive() {},
    ref() {},
    unref() {},
  });
}
