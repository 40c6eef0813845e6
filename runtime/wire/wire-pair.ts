import { type Duplex, duplexPair } from "node:stream";

/**
 * Both ends of a wire within one process. Node's pair passes memory on as it is and calls back
 * before it is read, but the worker's frame writer then uses it again: here it is copied.
 */
export function createWirePair(): { readonly hostEnd: Duplex; readonly workerEnd: Duplex } {
  const [hostEnd, workerEnd] = duplexPair();
  const pass = workerEnd._write.bind(workerEnd);
  workerEnd._write = (chunk: Buffer, encoding, done) => pass(Buffer.from(chunk), encoding, done);
  return { hostEnd, workerEnd };
}
