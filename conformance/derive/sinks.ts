/** Everything that left in a run, as named texts: where a search for leaks looks. */
import type { Message, Observation } from "../contract/observation.ts";

/** What kind of place a text came out of. `given`: before the runtime's filter. */
export type SinkKind = "record" | "state" | "catalog" | "spec" | "status" | "status message" | "error message" | "error details" | "log" | "debug log" | "output" | "error output" | "artefact" | "process" | "given"; // biome-ignore format: a list of words

export interface SinkText {
  readonly kind: SinkKind;
  /** For people: "message 12, LOG INFO", "standard error". */
  readonly name: string;
  readonly text: string;
  /** Index of the message that it stands in. */
  readonly message?: number;
}

/** What a user reads: outcome, errors and the log from INFO up. */
export const userVisible: ReadonlySet<SinkKind> = new Set(["status message", "error message", "log"]);

export function sinksOf({ messages, traces }: Pick<Observation, "messages" | "traces">): SinkText[] {
  const alone = (kind: SinkKind, name: string, text: string): SinkText[] => (text === "" ? [] : [{ kind, name, text }]);
  return [
    ...messages.flatMap(({ message, line }, index) => sinksOfMessage(message, line).map(({ kind, name, text }) => ({ kind, name: `message ${index + 1}, ${name}`, text, message: index }))),
    ...alone("output", "standard output", traces.strayOutput.join("\n")),
    ...alone("error output", "standard error", traces.errorOutput),
    ...traces.accidents.flatMap((text) => alone("error output", "an accident of the process", text)),
    ...traces.artefacts.flatMap(({ name, text }) => alone("artefact", name, text)),
  ];
}

/** A field that people read is a text of its own, as they read it; what remains is searched as it was written. */
function sinksOfMessage(message: Message, line: string): Pick<SinkText, "kind" | "name" | "text">[] {
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
      return [{ kind: "status message", name: "CONNECTION_STATUS", text: message.connectionStatus.message ?? "" }];
    case "LOG": {
      const { level, message: text } = message.log;
      return [{ kind: /^(debug|trace)$/i.test(level) ? "debug log" : "log", name: `LOG ${level}`, text }];
    }
    case "TRACE": {
      const { message: text = "", internal_message = "", stack_trace = "" } = message.trace.error ?? {};
      if (message.trace.type !== "ERROR") return [{ kind: "status", name: `TRACE ${message.trace.type}`, text: line }];
      const detail = (name: string, value: string) => (value === "" ? [] : [{ kind: "error details" as const, name: `${name} of TRACE ERROR`, text: value }]);
      return [{ kind: "error message", name: "message of TRACE ERROR", text }, ...detail("internal_message", internal_message), ...detail("stack_trace", stack_trace)];
    }
  }
}
