import type { Writable } from "node:stream";
import type { Clock } from "../contract/clock.ts";
import type { Host, HostOptions } from "../contract/host.ts";
import { outputFailed } from "../destination/failures.ts";

/** All that the CLI needs of the process that it runs in. */
export interface CliEnvironment {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly createHost: (options: HostOptions) => Host | Promise<Host>;
  readonly clock: Clock;
  readonly cwd: string;
  /** Stderr is a terminal: progress is redrawn in place. */
  readonly isTTY: boolean;
  /** Width of the terminal in characters. Default 80. */
  readonly columns?: number | undefined;
  /** Calls the listener at SIGINT and SIGTERM until the answer is disposed of. */
  readonly onSignal: (listener: () => void) => Disposable;
}

/** The process as a command sees it. */
export interface Terminal extends CliEnvironment {
  readonly out: OutputStream;
  readonly err: OutputStream;
  /** Aborts at the first signal, and when nobody reads stdout any more. */
  readonly signal: AbortSignal;
  /** As of a process: 0 until a command says otherwise. */
  exitCode: number;
}

/** A stream of the process that is written to no faster than it is read. */
export interface OutputStream {
  /**
   * Resolves when the chunk is written, so that its memory may be used again. After the reader has
   * gone it does nothing.
   * @throws OUTPUT_FAILED
   */
  write(chunk: string | Buffer): Promise<void>;
  line(text: string): Promise<void>;
  /** The reader went away, as `| head` does: not a failure of ours. */
  readonly isAbandoned: boolean;
}

/** @param onAbandoned called once when the reader has gone */
export function createOutput(stream: Writable, onAbandoned: () => void = () => {}): OutputStream {
  const waiting = new Set<() => void>();
  let isAbandoned = false;
  let failure: unknown;
  // A stream that fails or closes with chunks still in it may never call their callbacks.
  const release = () => {
    for (const done of waiting) done();
  };
  stream.on("close", release).on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") failure ??= error;
    else if (!isAbandoned) {
      isAbandoned = true;
      onAbandoned();
    }
    release();
  });
  const write: OutputStream["write"] = async (chunk) => {
    if (failure) throw outputFailed(failure);
    if (isAbandoned || stream.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        waiting.delete(done);
        resolve();
      };
      waiting.add(done);
      stream.write(chunk, done);
    });
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
