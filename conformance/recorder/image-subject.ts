import type { JsonObject } from "svc-connectors";
import {
  type CatalogStream,
  createSecretRegistry,
  isJsonObject,
  type NetworkSeams,
  type NetworkSettings,
  type StreamState,
  sanitizeText,
  streamLabel,
} from "svc-connectors/host";
import type { Command, Observation } from "../contract/observation.ts";
import { recordLines } from "../fixtures/records.ts";
import { type ConnectorRunOptions, runConnector } from "../lab/run-connector.ts";
import { createContainerTarget } from "../target/container.ts";
import { configSecrets } from "./config-secrets.ts";
import { createForwarder } from "./forward.ts";
import { RecordingError } from "./recording-error.ts";
import type { RecordedSubject } from "./subject.ts";
import type { VerbRequest, VerbResult } from "./verbs.ts";

/** An image of the Airbyte Protocol, with hosts and files as in `container` of conformance.yaml. */
export interface ImageReference {
  readonly image: string;
  readonly hosts?: readonly string[] | undefined;
  readonly files?: Readonly<Record<string, string>> | undefined;
}

export interface ImageSubjectOptions {
  /**
   * Gives the clock's time in recordings at the start of each verb; the image itself has the real
   * clock.
   */
  readonly originMs: () => number;
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Against a live account a verb takes as long as it takes. */
const deadlineMs = 24 * 3_600_000;

/**
 * A container for each verb; its only way out is a proxy that lets nothing pass which the runtime's
 * egress would refuse.
 */
export async function openImageSubject(
  reference: ImageReference,
  options: ImageSubjectOptions,
): Promise<RecordedSubject> {
  const target = await createContainerTarget(reference);
  let known: JsonObject = {};

  const run = (
    request: Command,
    world: Omit<ConnectorRunOptions, "startMs" | "deadlineMs">,
    startMs = options.originMs(),
  ) => runConnector(target, request, { ...world, startMs, deadlineMs });

  return {
    async published() {
      await using forwarder = createForwarder(options);
      const { messages } = await run({ verb: "spec" }, forwarder);
      const spec = messages.flatMap(({ message }) =>
        message.type === "SPEC" ? [message.spec] : [],
      )[0];
      const schema = spec?.connectionSpecification;
      if (!isJsonObject(schema))
        throw new RecordingError(
          `${target.name} gives no spec: it has to answer \`spec\` with a SPEC message`,
        );
      known = schema;
      // The protocol has no version of a source.
      return { version: "0.0.0", spec: schema, egress: undefined };
    },
    async run(request, allowance) {
      await using forwarder = createForwarder({ ...options, onExchange: allowance.take });
      const clockOriginMs = options.originMs();
      const world = { ...forwarder, signal: allowance.signal };
      const observation = await run(toCommand(request), world, clockOriginMs);
      const failed = observation.exchanges.find(({ unmatched }) => unmatched !== undefined);
      if (failed)
        throw new RecordingError(
          `${failed.request.method} ${failed.request.url.origin}: ${failed.unmatched}`,
        );
      return {
        result: resultOf(request, observation, known),
        clockOriginMs,
        exchanges: forwarder.exchanges(),
      };
    },
    async replay(request, provider, clockOriginMs) {
      const observation = await run(toCommand(request), { provider }, clockOriginMs);
      return { result: resultOf(request, observation, known), exchanges: observation.exchanges };
    },
    [Symbol.asyncDispose]: () => target[Symbol.asyncDispose](),
  };
}

function toCommand({ verb, config, stream, isIncremental = false, state }: VerbRequest): Command {
  if (verb !== "read" || !stream) return { verb: verb === "check" ? "check" : "discover", config };
  const selected = {
    stream,
    sync_mode: isIncremental ? ("incremental" as const) : ("full_refresh" as const),
    destination_sync_mode: "append",
    primary_key: stream.source_defined_primary_key,
    ...(stream.default_cursor_field.length > 0
      ? { cursor_field: stream.default_cursor_field }
      : {}),
  };
  return { verb: "read", config, catalog: { streams: [selected] }, ...(state ? { state } : {}) };
}

/** @throws RecordingError when it gave no result at all */
function resultOf(
  { verb, config, stream }: VerbRequest,
  observation: Observation,
  spec: JsonObject,
): VerbResult {
  const { messages, outcome } = observation;
  const type = messages.flatMap(({ message }) =>
    message.type === "TRACE" && message.trace.type === "ERROR"
      ? (message.trace.error?.failure_type ?? [])
      : [],
  )[0];
  const [failure] = outcome.failures;
  const isFailed = outcome.status !== "succeeded";
  // Its words are shown to people: an image may say more than it should.
  const secrets = createSecretRegistry();
  for (const { value } of configSecrets(config, spec)) secrets.add(value);
  const message = sanitizeText(
    failure?.message || `it ${outcome.status} without a word of why`,
    secrets,
  );
  if (isFailed && verb === "discover") throw new RecordingError(`discover failed: ${message}`);
  return {
    error: isFailed ? { message, code: type } : undefined,
    lines: stream ? recordLines(messages, streamLabel(stream)) : [],
    state: stream ? lastState(messages, stream) : [],
    streams: messages.flatMap(({ message }) =>
      message.type === "CATALOG" ? message.catalog.streams.map(withDefaults) : [],
    ),
  };
}

function lastState(
  messages: Observation["messages"],
  { name, namespace }: CatalogStream,
): StreamState[] {
  const last = messages.flatMap(({ message }) => {
    const own = message.type === "STATE" ? message.state.stream : undefined;
    return own?.stream_descriptor.name === name ? [own.stream_state ?? null] : [];
  });
  const stream = { name, ...(namespace === undefined ? {} : { namespace }) };
  return last.length === 0 ? [] : [{ stream, state: last.at(-1) ?? null }];
}

/** The protocol lets an image leave out what it has nothing to say about. */
const withDefaults = (stream: CatalogStream): CatalogStream => ({
  ...stream,
  source_defined_cursor: stream.source_defined_cursor ?? false,
  default_cursor_field: stream.default_cursor_field ?? [],
  source_defined_primary_key: stream.source_defined_primary_key ?? [],
});
