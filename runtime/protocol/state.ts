/**
 * States of an image: a stream's own state is kept as it is, so that a sync can be moved over from
 * another platform. Those of other forms stand under names of their own.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import type { Stream } from "../contract/stream.ts";
import { refused } from "./messages.ts";

/** Holds the shared part beside the stream's, of a source with one state for all streams. */
const globalKey = "airbyte_global";
/** Holds the whole state of a source from before streams had states of their own. */
const legacyKey = "airbyte_legacy";

/**
 * The part of a STATE message that is kept.
 * @throws CONNECTOR_PROTOCOL when it is of another stream
 */
export function toSavedState(
  message: Readonly<Record<string, unknown>>,
  stream: Pick<Stream, "name" | "namespace">,
): JsonValue {
  const { type = message.data === undefined ? "STREAM" : "LEGACY" } = message;
  if (type === "LEGACY") return { [legacyKey]: (message.data ?? {}) as JsonValue };
  if (type === "STREAM") {
    const { stream_descriptor, stream_state } = objectOf(message.stream);
    if (!isOf(stream_descriptor, stream)) throw refused("a state is of a stream not asked for");
    const state = objectOf(stream_state ?? {});
    if (Object.hasOwn(state, globalKey) || Object.hasOwn(state, legacyKey))
      throw refused("a state has a name that is kept for the host");
    return state as JsonObject;
  }
  if (type !== "GLOBAL") throw refused("a state is of no known type");
  const { shared_state, stream_states } = objectOf(message.global);
  const own = (Array.isArray(stream_states) ? stream_states : []).find((one) =>
    isOf(objectOf(one).stream_descriptor, stream),
  );
  return {
    [globalKey]: {
      shared_state: (shared_state ?? {}) as JsonValue,
      stream_state: (objectOf(own ?? {}).stream_state ?? {}) as JsonValue,
    },
  };
}

/** The value of `--state`: messages, or the old form as it was; undefined for the beginning. */
export function toGivenState(
  saved: JsonValue | undefined,
  { name, namespace }: Pick<Stream, "name" | "namespace">,
): JsonValue | undefined {
  if (!isJsonObject(saved ?? null)) return undefined;
  const state = saved as JsonObject;
  const stream_descriptor = { name, ...(namespace === undefined ? {} : { namespace }) };
  if (Object.hasOwn(state, legacyKey)) return state[legacyKey];
  if (!Object.hasOwn(state, globalKey))
    return [{ type: "STREAM", stream: { stream_descriptor, stream_state: state } }];
  const { shared_state = {}, stream_state = {} } = (state[globalKey] ?? {}) as JsonObject;
  const stream_states = [{ stream_descriptor, stream_state }];
  return [{ type: "GLOBAL", global: { shared_state, stream_states } }];
}

export const isOf = (descriptor: unknown, stream: Pick<Stream, "name" | "namespace">): boolean => {
  const { name, namespace } = objectOf(descriptor ?? {});
  return name === stream.name && (namespace ?? undefined) === stream.namespace;
};

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (isJsonObject(value as JsonValue)) return value as Record<string, unknown>;
  throw refused("a state is not of the protocol's form");
}
