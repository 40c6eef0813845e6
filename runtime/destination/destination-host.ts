/** The verbs of destinations: write and query. */
import type {
  CompareCommand,
  Destination,
  DestinationContext,
  DestinationEgress,
  DestinationSink,
  QueryCommand,
  QueryResult,
  WriteCommand,
} from "../contract/destination.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { CheckResult, ConnectorReference } from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Sink } from "../contract/sink.ts";
import { type DestinationManifest, describeDestination } from "../spec/destination-manifest.ts";
import {
  createModuleHost,
  type DestinationHostOptions,
  type DestinationOptions,
  type OpenModule,
} from "./host.ts";

/** An open writer. Whoever opened it disposes of it, after the sink was closed by the read. */
export interface OpenDestination extends AsyncDisposable {
  readonly sink: DestinationSink;
}

/** An open comparison. Whoever opened it disposes of it, after the sink was closed by the read. */
export interface OpenComparison extends AsyncDisposable {
  readonly sink: Sink;
}

export interface OpenQuery extends AsyncDisposable {
  readonly result: QueryResult;
}

/** Every method throws ConnectorError only. */
export interface DestinationHost {
  /** @throws CONNECTOR_INVALID */
  manifest(destination: ConnectorReference): Promise<DestinationManifest>;
  /** Whatever is wrong is a result. @throws CANCELLED only */
  check(
    destination: ConnectorReference,
    config: JsonObject,
    options?: DestinationOptions,
  ): Promise<CheckResult>;
  /** @throws CONFIG_INVALID, and as the destination's `write` says */
  write(
    destination: ConnectorReference,
    config: JsonObject,
    command: WriteCommand,
    options?: DestinationOptions,
  ): Promise<OpenDestination>;
  /**
   * @throws DELETES_REFUSED when it cannot compare keys, and as the destination's `compareKeys`
   * says
   */
  compareKeys(
    destination: ConnectorReference,
    config: JsonObject,
    command: CompareCommand,
    options?: DestinationOptions,
  ): Promise<OpenComparison>;
  /** @throws QUERY_REFUSED, QUERY_FAILED, QUERY_REFUSED also when it cannot be queried */
  query(
    destination: ConnectorReference,
    config: JsonObject,
    command: QueryCommand,
    options?: DestinationOptions,
  ): Promise<OpenQuery>;
}

type Context = DestinationContext<never, DestinationEgress>;
type Opened = OpenModule<Destination, Context>;

export function createDestinationHost(options: DestinationHostOptions = {}): DestinationHost {
  const { manifest, check, open } = createModuleHost<Context, Destination, DestinationManifest>(
    options,
    describeDestination,
  );

  /** Gives the result of `work`, which keeps the destination open until it is disposed of. */
  async function keepOpen<T>(opened: Opened, work: () => Promise<T>): Promise<T & AsyncDisposable> {
    try {
      const given = await work();
      return { ...given, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw opened.sanitize(error);
    }
  }

  return {
    manifest,
    check,
    async write(reference, config, command, verb) {
      const opened = await open(reference, config, verb);
      return keepOpen(opened, async () => {
        const sink = await opened.module.write(opened.ctx, command);
        return {
          sink: {
            ...sanitizing(sink, opened),
            savedState: () => sink.savedState(),
            location: (stream) => sink.location(stream),
          },
        };
      });
    },
    async compareKeys(reference, config, command, verb) {
      const opened = await open(reference, config, verb);
      return keepOpen(opened, async () => {
        if (!opened.module.compareKeys)
          throw new ConnectorError("DELETES_REFUSED", {
            reason: "this destination cannot compare keys",
          });
        const sink = await opened.module.compareKeys(opened.ctx, command);
        return { sink: sanitizing(sink, opened) };
      });
    },
    async query(reference, config, command, verb) {
      const opened = await open(reference, config, verb);
      return keepOpen(opened, async () => {
        if (!opened.module.query)
          throw new ConnectorError("QUERY_REFUSED", {
            reason: "this destination cannot be queried",
          });
        const { columns, pages } = await opened.module.query(opened.ctx, command);
        return { result: { columns, pages: sanitizingPages(pages, opened) } };
      });
    },
  };
}

function sanitizing<Given extends Sink>(
  sink: Given,
  { sanitize }: Opened,
): Sink & Pick<Given, "lineFormat"> {
  const safe = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw sanitize(error);
    }
  };
  const { writeBatch, write } = sink;
  return {
    lineFormat: sink.lineFormat,
    ...(writeBatch && {
      writeBatch: (stream, batch) => safe(() => writeBatch.call(sink, stream, batch)),
    }),
    ...(write && {
      write: (stream, lines, rowCount) => safe(() => write.call(sink, stream, lines, rowCount)),
    }),
    open: (streams) => safe(() => sink.open(streams)),
    checkpoint: (stream, state, rowCount) => safe(() => sink.checkpoint(stream, state, rowCount)),
    status: (stream, status) => safe(() => sink.status(stream, status)),
    close: () => safe(() => sink.close()),
    nulledCount: (stream) => sink.nulledCount?.(stream) ?? 0,
  };
}

async function* sanitizingPages(
  pages: QueryResult["pages"],
  { sanitize }: Opened,
): QueryResult["pages"] {
  try {
    yield* pages;
  } catch (error) {
    throw sanitize(error);
  }
}
