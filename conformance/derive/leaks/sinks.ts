/** Everything that left in a run, as named texts: where a search for leaks looks. */
import { inspect } from "node:util";
import type { Given, Message, Observation } from "../../contract/observation.ts";

/** The kind of place that a text came out of. */
export type SinkKind =
  | "record"
  | "state"
  | "catalog"
  | "spec"
  | "status"
  | "status message"
  | "error message"
  | "error details"
  | "log"
  | "debug log"
  | "output"
  | "error output"
  | "artefact"
  | "process"
  | "thrown";

export interface SinkText {
  readonly kind: SinkKind;
  /** For people: "message 12, LOG INFO", "standard error". */
  readonly name: string;
  readonly text: string;
  /** Index of the message that it stands in. */
  readonly message?: number | undefined;
}

/** Places that a user reads: outcome, errors and the log from INFO up. */
export const userVisible: ReadonlySet<SinkKind> = new Set([
  "status message",
  "error message",
  "log",
]);

export function sinksOf({
  messages,
  traces,
}: Pick<Observation, "messages" | "traces">): SinkText[] {
  const alone = (kind: SinkKind, name: string, text: string): SinkText[] =>
    text === "" ? [] : [{ kind, name, text }];
  return [
    ...messages.flatMap(({ message, line }, index) =>
      sinksOfMessage(message, line).map(({ kind, name, text }) => ({
        kind,
        name: `message ${index + 1}, ${name}`,
        text,
        message: index,
      })),
    ),
    ...alone("output", "standard output", traces.strayOutput.join("\n")),
    ...alone("error output", "standard error", traces.errorOutput),
    ...traces.accidents.flatMap((text) =>
      alone("error output", "an accident of the process", text),
    ),
    ...traces.artefacts.flatMap(({ name, text }) => alone("artefact", name, text)),
  ];
}

export const isDebug = (level: string) => /^(debug|trace)$/i.test(level);

/**
 * Texts that the connector gave, before the runtime's filter; `thrown` errors by their own text
 * only.
 */
export function sinksOfGiven(given: readonly Given[]): SinkText[] {
  return given.flatMap(({ where, level = "", stream, value }): SinkText[] => {
    const of = stream === undefined ? "" : ` of ${stream}`;
    const before = "as the connector gave it";
    if (where === "log")
      return [
        {
          kind: isDebug(level) ? "debug log" : "log",
          name: `log line (${level}), ${before}`,
          text: textOf(value),
        },
      ];
    if (where === "records")
      return [{ kind: "record", name: `rows${of}, ${before}`, text: textOf(value) }];
    if (where === "state")
      return [{ kind: "state", name: `state${of}, ${before}`, text: textOf(value) }];
    if (where === "catalog")
      return [{ kind: "catalog", name: `a stream, ${before}`, text: textOf(value) }];
    // The text of a ConnectorError is what a user is shown; that of any other error is dropped by
    // the runtime.
    const isShown = value instanceof Error && "toRecord" in value;
    if (where === "thrown")
      return [
        {
          kind: isShown ? "error message" : "thrown",
          name: `error${of}, as it was thrown`,
          text: messagesOf(value).join("\n"),
        },
      ];
    return [];
  });
}

/** Messages of an error, of its causes and of those that it gathers. */
function messagesOf(error: unknown, depth = 0): string[] {
  if (depth > 5) return [];
  if (!(error instanceof Error)) return [textOf(error)];
  const inner = [
    ...(error.cause === undefined ? [] : [error.cause]),
    ...(error instanceof AggregateError ? error.errors : []),
  ];
  return [error.message, ...inner.flatMap((one) => messagesOf(one, depth + 1))];
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    return (
      JSON.stringify(value, (_key, part: unknown) =>
        typeof part === "bigint" ? String(part) : part,
      ) ?? String(value)
    );
  } catch {
    return inspect(value);
  }
}

/**
 * A field that people read is a text of its own, as they read it; what remains is searched as it
 * was written.
 */
function sinksOfMessage(
  message: Message,
  line: string,
): Pick<SinkText, "kind" | "name" | "text">[] {
  switch (message.type) {
    case "RECORD":
      return [{ kind: "record", name: `RECORD of ${message.record.stream}`, text: line }];
    case "STATE":
      return [{ kind: "state", name: "STATE", text: line }];
    case "CATALOG":
      return [{ kind: "catalog", name: "CATALOG", text: line }];
    case "SPEC":
      return [{ kind: "spec", name: "SPEC", text: line }];
    case "CONNECTION_STATUS":
      return [
        {
          kind: "status message",
          name: "CONNECTION_STATUS",
          text: message.connectionStatus.message ?? "",
        },
      ];
    case "LOG": {
      const { level, message: text, ...rest } = message.log;
      const kind = isDebug(level) ? "debug log" : "log";
      return [
        { kind, name: `LOG ${level}`, text },
        ...(Object.keys(rest).length > 0
          ? [{ kind, name: `LOG ${level}`, text: JSON.stringify(rest) } as const]
          : []),
      ];
    }
    case "TRACE": {
      const {
        message: text = "",
        internal_message = "",
        stack_trace = "",
      } = message.trace.error ?? {};
      if (message.trace.type !== "ERROR")
        return [{ kind: "status", name: `TRACE ${message.trace.type}`, text: line }];
      const detail = (name: string, value: string) =>
        value === ""
          ? []
          : [{ kind: "error details" as const, name: `${name} of TRACE ERROR`, text: value }];
      return [
        { kind: "error message", name: "message of TRACE ERROR", text },
        ...detail("internal_message", internal_message),
        ...detail("stack_trace", stack_trace),
      ];
    }
    case "CONTROL":
      // Changed settings go back to who keeps them: their secrets are no leak there.
      return [];
  }
}
