import {
  type CatalogStream,
  ConnectorError,
  type ErrorRecord,
  type Host,
  type JsonObject,
  type Sink,
  type VerbOptions,
} from "svc-connectors/host";
import type { ConnectorDefinition } from "../connectors/registry.ts";

/** The first rows of a stream, or why there are none. */
export interface Sample {
  readonly stream: CatalogStream;
  readonly rows: readonly JsonObject[];
  readonly error?: ErrorRecord | undefined;
}

/**
 * Reads the first `limit` rows of each stream, one page as a rule. A read goes from stream to
 * stream as long as they end by themselves; the first that has more than is wanted ends it, and the
 * next one goes on behind it. So there is one worker at a time, and one in all for a small account.
 * Nothing is remembered: the next samples are the same ones.
 */
export async function readSamples(
  host: Host,
  definition: ConnectorDefinition,
  config: JsonObject,
  streams: readonly CatalogStream[],
  limit: number,
  options: VerbOptions & { readonly signal: AbortSignal },
): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (samples.length < streams.length && !options.signal.aborted) {
    const rest = streams.slice(samples.length);
    samples.push(...(await readUntilEnough(host, definition, config, rest, limit, options)));
  }
  const error = new ConnectorError("CANCELLED").toRecord();
  return [
    ...samples,
    ...streams.slice(samples.length).map((stream) => ({ stream, rows: [], error })),
  ];
}

/** Samples of the first streams, at least of one unless it is cancelled. */
async function readUntilEnough(
  host: Host,
  { reference }: ConnectorDefinition,
  config: JsonObject,
  streams: readonly CatalogStream[],
  limit: number,
  { signal, ...options }: VerbOptions & { readonly signal: AbortSignal },
): Promise<Sample[]> {
  const enough = new AbortController();
  const sink = createSampleSink(limit, () => enough.abort());
  const request = {
    config: { ...config, page_size: limit },
    catalog: { streams: streams.map((stream) => ({ stream, sync_mode: "full_refresh" as const })) },
  };
  const verb = { ...options, signal: AbortSignal.any([signal, enough.signal]) };
  const summary = await host.read(reference, request, sink, verb).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown;
    return undefined;
  });
  if (!summary) return [];
  const last = streams.findIndex(({ name }) => name === sink.full);
  return streams.slice(0, last === -1 ? streams.length : last + 1).map((stream, index): Sample => {
    const rows = sink.rowsOf(stream.name).slice(0, limit);
    const { status, error = summary.error } = summary.streams[index] ?? {};
    return index === last || status === "complete" || !error
      ? { stream, rows }
      : { stream, rows: [], error };
  });
}

interface SampleSink extends Sink {
  /** The stream that had as many rows as are wanted; the read was ended there. */
  readonly full: string | undefined;
  rowsOf(stream: string): readonly JsonObject[];
}

function createSampleSink(limit: number, enough: () => void): SampleSink {
  const found = new Map<string, JsonObject[]>();
  let full: string | undefined;
  return {
    get full() {
      return full;
    },
    rowsOf: (stream) => found.get(stream) ?? [],
    lineFormat: "rows",
    open: async () => undefined,
    async write({ name }, lines) {
      const texts = lines.toString().split("\n").slice(0, -1);
      const rows = [
        ...(found.get(name) ?? []),
        ...texts.map((text) => JSON.parse(text) as JsonObject),
      ];
      found.set(name, rows);
      if (rows.length < limit || full !== undefined) return;
      full = name;
      enough();
    },
    checkpoint: async () => undefined,
    status: async () => undefined,
    close: async () => undefined,
  };
}
