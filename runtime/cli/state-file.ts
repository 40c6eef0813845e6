import type { ConfiguredCatalog, StreamState } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import { fromProtocolStream } from "../sinks/airbyte-catalog.ts";
import { parseText, readDocument, readText, type WarningListener } from "./files.ts";
import { printable } from "./usage.ts";

/**
 * The saved states in a file of Airbyte's: an array of AirbyteStateMessage, or one message a line,
 * with or without the AirbyteMessage around it. Of several states of one stream the last counts.
 * Nothing, `{}` and `[]` mean that there are none.
 * @throws UsageError for a file that cannot be read, STATE_INVALID for legacy and global states
 */
export async function readState(
  path: string,
  cwd: string,
  onWarning?: WarningListener,
): Promise<StreamState[]> {
  const text = await readText(path, "state", cwd);
  const document =
    parseLines(text) ?? (await parseText(text, `state file "${printable(path)}"`, onWarning));
  if (document === null || isEmpty(document)) return [];
  const messages = Array.isArray(document) ? document : [document];
  const byStream = new Map(
    messages.map(toStreamState).map((state) => [JSON.stringify(state.stream), state]),
  );
  return [...byStream.values()];
}

/** One JSON document a line; undefined when it is anything else. */
function parseLines(text: string): JsonValue[] | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < 2) return undefined;
  try {
    return lines.map((line) => JSON.parse(line) as JsonValue);
  } catch {
    return undefined;
  }
}

function toStreamState(message: JsonValue, index: number): StreamState {
  const refuse = (problem: string) =>
    new ConnectorError("STATE_INVALID", { path: `message ${index + 1}`, problem });
  if (!isJsonObject(message)) throw refuse("is not a state message");
  const state = message.type === "STATE" && isJsonObject(message.state) ? message.state : message;
  if (state.type === "GLOBAL")
    throw refuse("is a global state; this connector keeps one for each stream");
  if (state.type !== "STREAM" || !isJsonObject(state.stream))
    throw refuse("is a legacy state; use messages of type STREAM");
  const descriptor = state.stream.stream_descriptor;
  if (!isJsonObject(descriptor) || typeof descriptor.name !== "string")
    throw refuse("names no stream");
  const namespace =
    typeof descriptor.namespace === "string" ? { namespace: descriptor.namespace } : {};
  return {
    stream: { name: descriptor.name, ...namespace },
    state: state.stream.stream_state ?? {},
  };
}

/**
 * A configured catalog as Airbyte's clients write it: what is null counts as left out.
 * @throws UsageError, CATALOG_INVALID
 */
export async function readCatalog(
  path: string,
  cwd: string,
  onWarning?: WarningListener,
): Promise<ConfiguredCatalog> {
  const document = await readDocument(path, "catalog", cwd, onWarning);
  const streams = isJsonObject(document) ? document.streams : undefined;
  if (!Array.isArray(streams)) {
    throw new ConnectorError("CATALOG_INVALID", {
      path: "the document",
      problem: "must be an object with streams",
    });
  }
  return {
    streams: streams.map((item) => {
      if (!isJsonObject(item)) return item;
      const { stream, ...choices } = withoutNulls(item);
      return {
        ...choices,
        ...(isJsonObject(stream) ? { stream: fromProtocolStream(withoutNulls(stream)) } : {}),
      };
    }),
  } as unknown as ConfiguredCatalog; // the host checks it against its schema
}

const isEmpty = (value: JsonValue) =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;
const withoutNulls = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null));
