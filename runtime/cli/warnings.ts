import type { HostEvent } from "../contract/host.ts";
import { eventLevel, eventText } from "../sinks/airbyte.ts";
import { printable } from "./usage.ts";

/** The warnings of a discovery, told when it has ended: of many streams in one line. */
export interface Warnings {
  event(event: HostEvent): void;
  /**
   * Each warning once, in lines for people. @param isWanted tells whether a stream matters; of no
   * stream every warning does
   */
  lines(isWanted?: (stream: string) => boolean): readonly string[];
}

/** Most warnings that are kept, and most streams that a line names. */
const maxWarnings = 10_000;
const maxNamed = 8;

export function collectWarnings(): Warnings {
  const warnings: { readonly text: string; readonly stream: string | undefined }[] = [];
  return {
    event(event) {
      if (eventLevel(event) !== "WARN" || warnings.length >= maxWarnings) return;
      warnings.push(describe(event));
    },
    lines(isWanted = () => true) {
      const groups = new Map<string, Set<string>>();
      for (const { text, stream } of warnings) {
        if (stream !== undefined && !isWanted(stream)) continue;
        const streams = groups.get(text) ?? new Set();
        if (stream !== undefined) streams.add(stream);
        groups.set(text, streams);
      }
      return [...groups].map(([text, streams]) => line(text, [...streams]));
    },
  };
}

/** A warning in one line for people. */
export function describeWarning(event: HostEvent): string {
  const { text, stream } = describe(event);
  return line(text, stream === undefined ? [] : [stream]);
}

/** The stream apart from the rest, so that one line can tell of many. */
function describe(event: HostEvent): {
  readonly text: string;
  readonly stream: string | undefined;
} {
  if (event.type !== "log") return { text: eventText(event), stream: undefined };
  const { stream, reason, ...rest } = event.fields;
  const facts = [
    ...(typeof reason === "string"
      ? [reason]
      : reason === undefined
        ? []
        : [JSON.stringify(reason)]),
    ...Object.entries(rest).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
  const message = event.message.replace(/\.$/, "");
  return {
    text: facts.length === 0 ? event.message : `${message} (${facts.join("; ")})`,
    stream: typeof stream === "string" ? stream : undefined,
  };
}

function line(text: string, streams: readonly string[]): string {
  const more = streams.length - maxNamed;
  const named = streams
    .slice(0, maxNamed)
    .map((stream) => printable(stream, 60))
    .join(", ");
  return printable(
    streams.length === 0
      ? text
      : `${text.replace(/\.$/, "")}: ${named}${more > 0 ? ` and ${more} more` : ""}`,
    900,
  );
}
