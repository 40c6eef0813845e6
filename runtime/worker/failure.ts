import { ConnectorError, type ErrorRecord, isConnectorError } from "../contract/errors.ts";
import { runtimeFolder } from "../wire/location.ts";

/**
 * The record of whatever a connector threw. Of a foreign error only its class and the place in the
 * connector's own code are told.
 */
export function describeFailure(error: unknown): ErrorRecord {
  return toWorkerError(error).toRecord();
}

/** Maps a foreign error to the table without taking over any of its text. */
export function toWorkerError(error: unknown): ConnectorError {
  if (isConnectorError(error))
    return new ConnectorError(error.code, error.details, error.retryAfterMs);
  if (!(error instanceof Error))
    return new ConnectorError("CONNECTOR_FAILED", { name: "value that is not an Error" });
  if (error.name === "AbortError") return new ConnectorError("CANCELLED");
  const code = (error as { code?: unknown }).code;
  if (code === "ERR_ACCESS_DENIED")
    return new ConnectorError("CONNECTOR_FORBIDDEN", { resource: deniedResource(error) });
  const place = ownPlace(error);
  return new ConnectorError("CONNECTOR_FAILED", { name: className(error), ...place });
}

/** A misuse of ctx, with the place in the connector's own code that waits for it. */
export function withPlace(error: unknown): unknown {
  if (!isConnectorError(error) || error.code !== "CONNECTOR_PROTOCOL") return error;
  return new ConnectorError(error.code, { ...error.details, ...ownPlace(new Error()) });
}

/** Stack frames that are looked through for the connector's own, and how many of those are told. */
const maxFrames = 50;
const maxCallers = 3;

/**
 * The connector's line that is running, and those that wait for it: "index.ts:42 ← index.ts:107";
 * undefined: none is known.
 */
export function callerPlaces(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = maxFrames;
  const places = [...ownPlaces(new Error())].slice(0, maxCallers);
  Error.stackTraceLimit = stackTraceLimit;
  return places.map(({ file, line }) => `${file}:${line}`).join(" ← ") || undefined;
}

/** Names what the permission model refused, in words of ours. */
export function deniedResource(refusal: object): string {
  const words: Record<string, string> = {
    FileSystemRead: "files",
    FileSystemWrite: "files",
    Net: "the network",
    ChildProcess: "child processes",
    WorkerThreads: "threads",
    Inspector: "the inspector",
    Addon: "native code",
    FFI: "native code",
    WASI: "WASI",
  };
  return (
    words[String((refusal as { permission?: unknown }).permission)] ??
    "something outside the sandbox"
  );
}

/** An identifier such as TypeError; never text that the thrower chose freely. */
function className(error: Error): string {
  const name = error.constructor?.name;
  return typeof name === "string" && /^[A-Za-z]{1,40}$/.test(name) ? name : "Error";
}

interface Place {
  readonly file: string;
  readonly line: number;
}

/** Where an error was thrown, or what waited for that. */
const ownPlace = (error: Error): Partial<Place> => ownPlaces(error).next().value ?? {};

/**
 * File names and lines of the frames that are neither Node's, a dependency's nor the runtime's, the
 * innermost first.
 */
function* ownPlaces(error: Error): Generator<Place, undefined> {
  let stack = "";
  try {
    stack = typeof error.stack === "string" ? error.stack : "";
  } catch {
    return; // a getter that throws
  }
  for (const match of stack
    .slice(0, 10_000)
    .matchAll(/(?:\(|at |async )((?:file:\/\/)?\/[^\s():?]+)(?:\?\w+=\w*)?:(\d+):\d+/g)) {
    const path = (match[1] ?? "").replace(/^file:\/\//, "");
    if (path.includes("/node_modules/") || path.startsWith(runtimeFolder)) continue;
    const file = path.slice(path.lastIndexOf("/") + 1);
    if (/^[\w.-]{1,60}$/.test(file)) yield { file, line: Number(match[2]) };
  }
}
