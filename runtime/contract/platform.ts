/**
 * Types of the platform for those who may not have them: the project of a connector's author needs
 * neither Node's declarations nor the browser's. Where there are some, these are theirs.
 */

type Platform = typeof globalThis;

/** An AbortSignal. */
export type Signal = Platform extends { AbortSignal: { prototype: infer Declared } }
  ? Declared
  : BareSignal;

interface BareSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(
    type: "abort",
    listener: () => void,
    options?: { readonly once?: boolean | undefined },
  ): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/**
 * A Duplex of Node, as packages like `pg` expect one. Its declarations say what it is without being
 * imported: standard input may be composed into one, and in older ones is one.
 */
export type ByteStream = Platform extends { process: { stdin: infer Stdin } }
  ? Stdin extends {
      compose(...streams: never[]): infer Duplex extends { write: unknown; destroy: unknown };
    }
    ? Duplex
    : Stdin
  : BareStream;

interface BareStream {
  write(chunk: Uint8Array): boolean;
  end(): unknown;
  destroy(error?: Error): unknown;
  pause(): unknown;
  resume(): unknown;
  on(event: string, listener: (...details: never[]) => void): unknown;
  once(event: string, listener: (...details: never[]) => void): unknown;
}
