/** Where the bytes of one run end, in what a kept worker says. */
import { frameKind, headerBytes } from "../wire/frames.ts";

export interface RunEnd {
  /** The connector is loaded. */
  readonly isLoaded: boolean;
  /** The worker has said how its run ended, and only the look at what is left is to come. */
  readonly isNear: boolean;
  /**
   * Splits bytes into the run's own and, once the run is over, the next one's. Less than a header
   * is kept for the next call.
   */
  split(bytes: Buffer): { readonly own: Buffer; readonly next: Buffer | undefined };
}

export function createRunEnd(): RunEnd {
  let held: Buffer = Buffer.alloc(0);
  /** Bytes of a payload that are still to come. */
  let payloadBytes = 0;
  let isLoaded = false;
  let isNear = false;
  return {
    get isLoaded() {
      return isLoaded;
    },
    get isNear() {
      return isNear;
    },
    split(incoming) {
      const bytes = held.length > 0 ? Buffer.concat([held, incoming]) : incoming;
      let at = Math.min(payloadBytes, bytes.length);
      payloadBytes -= at;
      while (bytes.length - at >= headerBytes) {
        const kind = bytes[at + 4];
        const after = at + headerBytes;
        if (kind === frameKind.over)
          return { own: bytes.subarray(0, at), next: bytes.subarray(after) };
        if (kind === frameKind.manifest) isLoaded = true;
        if (kind === frameKind.done || kind === frameKind.failed) isNear = true;
        const length = bytes.readUInt32LE(at);
        at = Math.min(after + length, bytes.length);
        payloadBytes = after + length - at;
      }
      held = payloadBytes > 0 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
      return { own: payloadBytes > 0 ? bytes : bytes.subarray(0, at), next: undefined };
    },
  };
}
