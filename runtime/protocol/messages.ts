/** The output of a program as messages of the Airbyte Protocol, one JSON document a line. */
import { ConnectorError } from "../contract/errors.ts";
import { isPlainObject, maxRowBytes, parseExact } from "../wire/exact-json.ts";

/** A message, unchecked: what stands under the name of its type. */
export interface Message {
  readonly type: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Where messages of each type have their content. */
const bodyOf: Readonly<Record<string, string>> = {
  RECORD: "record",
  STATE: "state",
  LOG: "log",
  TRACE: "trace",
  CONTROL: "control",
  SPEC: "spec",
  CATALOG: "catalog",
  CONNECTION_STATUS: "connectionStatus",
};

/** A line with a row of the largest size, or with a catalog. */
const maxLineBytes = 4 * maxRowBytes;
/** Output between two messages that say something; a program that writes more says nothing. */
const maxIdleBytes = 64 * 1024 * 1024;
/** Types that bring a run forward. */
const progressTypes = new Set(["RECORD", "STATE", "SPEC", "CATALOG", "CONNECTION_STATUS"]);

/** Hears of lines that are no message. */
export type StrayListener = (line: string) => void;

/** Takes output apart, however it is cut. */
export interface MessageReader {
  /** @throws CONNECTOR_PROTOCOL for output without end that says nothing */
  push(chunk: Buffer): Message[];
  /** The messages of a last line without an end. */
  end(): Message[];
}

export function createMessageReader(onStray: StrayListener): MessageReader {
  let parts: Buffer[] = [];
  let lineBytes = 0;
  let idleBytes = 0;

  const take = (messages: Message[]) => {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    lineBytes = 0;
    if (line.trim() === "") return;
    const message = parseMessage(line);
    if (message === undefined) onStray(line);
    else messages.push(message);
    if (message && progressTypes.has(message.type)) idleBytes = 0;
  };

  return {
    push(chunk) {
      const messages: Message[] = [];
      idleBytes += chunk.length;
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        parts.push(chunk.subarray(from, end));
        take(messages);
        from = end + 1;
      }
      if (from < chunk.length) {
        // The chunk's memory is used again.
        parts.push(Buffer.from(chunk.subarray(from)));
        lineBytes += chunk.length - from;
      }
      if (lineBytes > maxLineBytes) throw refused(`a line is longer than ${maxLineBytes} bytes`);
      if (idleBytes > maxIdleBytes) throw refused("it writes without end and says nothing");
      return messages;
    },
    end() {
      const messages: Message[] = [];
      take(messages);
      return messages;
    },
  };
}

function parseMessage(line: string): Message | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    const value = parseExact(line);
    if (!isPlainObject(value)) return undefined;
    const { type } = value as { type?: unknown };
    const name = typeof type === "string" && Object.hasOwn(bodyOf, type) ? bodyOf[type] : undefined;
    const body = name === undefined ? undefined : (value as Record<string, unknown>)[name];
    return isPlainObject(body)
      ? { type: String(type), body: body as Record<string, unknown> }
      : undefined;
  } catch {
    return undefined;
  }
}

export const refused = (problem: string) =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: `the image: ${problem}` });
