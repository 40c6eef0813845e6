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

/**
 * File name and line of the first frame that is neither Node's, a dependency's nor the runtime's.
 */
function ownPlace(error: Error): { file?: string; line?: number } {
  let stack = "";
  try {
    stack = typeof error.stack === "string" ? error.stack : "";
  } catch {
    return {}; // a getter that throws
  }
  for (const match of stack
    .slice(0, 10_000)
    .matchAll(/(?:\(|at |async )((?:file:\/\/)?\/[^\s():?]+)(?:\?\w+=\w*)?:(\d+):\d+/g)) {
    const path = (match[1] ?? "").replace(/^file:\/\//, "");
    if (path.includes("/node_modules/") || path.startsWith(runtimeFolder)) continue;
    const file = path.slice(path.lastIndexOf("/") + 1);
    if (/^[\w.-]{1,60}$/.test(file)) return { file, line: Number(match[2]) };
  }
  return {};
}
