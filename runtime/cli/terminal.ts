import type { Writable } from "node:stream";
import type { Clock } from "../contract/clock.ts";
import type { Host, HostOptions } from "../contract/host.ts";
import { outputFailed } from "../sinks/output.ts";

/** All that the CLI needs of the process that it runs in. */
export interface Surroundings {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly createHost: (options: HostOptions) => Host;
  readonly clock: Clock;
  readonly cwd: string;
  /** Stderr is a terminal: progress is redrawn in place. */
  readonly isTTY: boolean;
  /** Width of the terminal in characters. Default 80. */
  readonly columns?: number;
  /** Calls the listener at SIGINT and SIGTERM until the answer is disposed of. */
  readonly onSignal: (listener: () => void) => Disposable;
}

/** What every command receives. */
export interface Terminal extends Surroundings {
  readonly out: Output;
  readonly err: Output;
  /** Aborts at the first signal, and when nobody reads stdout any more. */
  readonly signal: AbortSignal;
}

/** A stream of the process that is written to no faster than it is read. */
export interface Output {
  /** Resolves when there is room for more. After the reader has gone it does nothing. @throws OUTPUT_FAILED */
  write(chunk: string | Buffer): Promise<void>;
  line(text: string): Promise<void>;
  /** The reader went away, as `| head` does: not a failure of ours. */
  readonly isAbandoned: boolean;
}

/** @param onAbandoned called once when the reader has gone */
export function createOutput(stream: Writable, onAbandoned: () => void = () => {}): Output {
  let isAbandoned = false;
  let failure: unknown;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") failure ??= error;
    else if (!isAbandoned) {
      isAbandoned = true;
      onAbandoned();
    }
  });
  const write: Output["write"] = async (chunk) => {
    if (failure) throw outputFailed(failure);
    if (isAbandoned || stream.destroyed) return;
    if (!stream.write(chunk)) await drained(stream);
    if (failure) throw outputFailed(failure);
  };
  return {
    write,
    line: (text) => write(`${text}\n`),
    get isAbandoned() {
      return isAbandoned;
    },
  };
}

/** Resolves at "drain", and also when the stream fails or closes: then it never drains. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const events = ["drain", "error", "close"] as const;
    const done = () => {
      for (const event of events) stream.off(event, done);
      resolve();
    };
    for (const event of events) stream.on(event, done);
  });
}
