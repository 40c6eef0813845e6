/**
 * Catches the output of a run in this process that goes past the protocol: console, process.stdout,
 * process.stderr.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { format } from "node:util";

export interface OutputWatch extends Disposable {
  /** Keeps the output of the work instead of showing it; output of others goes its way. */
  during<T>(work: () => Promise<T>): Promise<T>;
  readonly out: string;
  readonly error: string;
}

const own = new AsyncLocalStorage<{ out: string; error: string }>();
const methods = {
  log: "out",
  info: "out",
  debug: "out",
  dir: "out",
  warn: "error",
  error: "error",
  trace: "error",
} as const;

/** One at a time. Without `isInside` the connector is elsewhere, and nothing is kept. */
export function watchOutput(isInside: boolean): OutputWatch {
  const kept = { out: "", error: "" };
  const names = Object.keys(methods) as (keyof typeof methods)[];
  const undo = isInside
    ? [
        ...names.map((name) => replaceConsole(name, methods[name])),
        replaceWrite("stdout", "out"),
        replaceWrite("stderr", "error"),
      ]
    : [];
  return {
    during: (work) => (isInside ? own.run(kept, work) : work()),
    get out() {
      return kept.out;
    },
    get error() {
      return kept.error;
    },
    [Symbol.dispose]() {
      for (const one of undo) one();
    },
  };
}

function replaceConsole(name: keyof typeof methods, to: "out" | "error"): () => void {
  const before = console[name];
  console[name] = (...values: unknown[]) => {
    const kept = own.getStore();
    if (kept) kept[to] += `${format(...values)}\n`;
    else Reflect.apply(before, console, values);
  };
  return () => {
    console[name] = before;
  };
}

function replaceWrite(stream: "stdout" | "stderr", to: "out" | "error"): () => void {
  const before = process[stream].write;
  process[stream].write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    const kept = own.getStore();
    if (!kept) return Reflect.apply(before, process[stream], [chunk, ...rest]);
    kept[to] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    const done = rest.find((one) => typeof one === "function");
    if (done) queueMicrotask(() => Reflect.apply(done, undefined, []));
    return true;
  }) as typeof before;
  return () => {
    process[stream].write = before;
  };
}
