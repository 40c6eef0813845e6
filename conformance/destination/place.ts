/**
 * The common part of places of files and of databases: the host, virtual time, what is open, and
 * what was said.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import {
  ConnectorError,
  type ConnectorReference,
  createDestinationHost,
  type DestinationHost,
  type DestinationOptions,
  type NetworkSeams,
  type NetworkSettings,
} from "svc-connectors/host";
import type { ChildCommand } from "./child.ts";
import type { Place, ProcessRun, Table, Trouble, Writer } from "./contract.ts";
import { createScriptClock, openWriter } from "./drive.ts";
import type { Processes, ProcessOptions } from "./process.ts";

/** The context that all places of a lab share. */
export interface PlaceContext {
  readonly reference: ConnectorReference;
  readonly network: Partial<NetworkSettings>;
  readonly processes: Processes;
  /** A run of the destination begins. */
  onRun(): void;
  /** Takes note of what the destination says. */
  onSaid(where: string, text: string): void;
}

/** The way to the place for one writer, check or query. */
export interface Way extends AsyncDisposable {
  readonly seams: NetworkSeams;
  /** Where a process reaches it. */
  readonly port?: number | undefined;
  queryCount(): number;
}

export interface PlaceParts {
  readonly config: JsonObject;
  /** The setting with the password, where there is one. */
  readonly passwordField?: string | undefined;
  /** Folder of the declared file. */
  readonly folder?: string | undefined;
  way(trouble: Trouble): Promise<Way>;
  readonly sql: Place["sql"];
  readonly files: Place["files"];
  readonly path: string | undefined;
  readonly unwritable: Place["unwritable"];
  remove(): Promise<void>;
}

/** The day that rows are written on: any will do that is not today. */
export const startMs = Date.parse("2023-11-14T22:13:20Z");
const limits = { maxRows: 200_000, timeoutMs: 60_000 } as const;

export function createPlace(context: PlaceContext, parts: PlaceParts): Place {
  const { reference, network } = context;
  const { config, folder, passwordField } = parts;
  const configWith = ({ password }: Trouble): JsonObject =>
    password === undefined || passwordField === undefined
      ? config
      : { ...config, [passwordField]: password };
  const clock = createScriptClock(startMs);
  const open = new Set<Writer>();
  const verb: DestinationOptions = {
    folder,
    onEvent: (event) => context.onSaid("a log message", JSON.stringify(event)),
  };
  const said = (where: string, error: unknown): never => {
    if (error instanceof ConnectorError) context.onSaid(where, JSON.stringify(error.toRecord()));
    throw error;
  };

  async function withHost<T>(
    trouble: Trouble,
    work: (host: DestinationHost, own: JsonObject) => Promise<T>,
  ): Promise<T> {
    context.onRun();
    await using way = await parts.way(trouble);
    const host = createDestinationHost({ settings: network, clock, seams: way.seams });
    return await work(host, configWith(trouble));
  }

  const place: Place = {
    config,
    now: clock.now,
    sql: parts.sql,
    files: parts.files,
    path: parts.path,
    unwritable: parts.unwritable,
    check: (trouble = {}) =>
      withHost(trouble, async (host, own) => {
        const result = await host.check(reference, own, verb);
        if (result.status === "failed")
          context.onSaid("the error of check", JSON.stringify(result.error));
        return result;
      }),
    async open(command, trouble = {}) {
      context.onRun();
      const way = await parts.way(trouble);
      const host = createDestinationHost({ settings: network, clock, seams: way.seams });
      try {
        const writer = await openWriter(host, reference, configWith(trouble), command, clock, {
          ...verb,
          onClosed: async () => way[Symbol.asyncDispose](),
        });
        const kept: Writer = {
          ...writer,
          perform: (steps) =>
            writer.perform(steps).catch((error) => said("the error of a writer", error)),
          close: () =>
            writer
              .close()
              .catch((error) => said("the error of a writer", error))
              .finally(() => open.delete(kept)),
        };
        open.add(kept);
        return kept;
      } catch (error) {
        await way[Symbol.asyncDispose]();
        return said("the error of write", error);
      }
    },
    async run(script, trouble = {}) {
      const writer = await place.open(script.command, trouble);
      try {
        await writer.perform(script.steps);
      } catch (error) {
        await writer.close().catch(() => undefined);
        throw error;
      }
      await writer.close();
      return script.command.streams.map((_, index) => writer.location(index));
    },
    query: (sql, own = {}) =>
      withHost({}, async (host) => {
        await using opened = await host.query(reference, config, { sql, ...limits, ...own }, verb);
        const rows: (readonly JsonValue[])[] = [];
        for await (const page of opened.result.pages) rows.push(...page);
        return { columns: opened.result.columns, rows };
      }).catch((error) => said("the error of query", error)),
    async rows(location) {
      const { columns, rows } = await place.query(`SELECT * FROM ${location}`);
      return rows.map((row) => toObject(columns, row));
    },
    async tables() {
      const { rows } = await place.query(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('information_schema', 'pg_catalog')",
      );
      return rows.map((row) => row.join(".")).sort();
    },
    async process(script, options = {}) {
      context.onRun();
      for (const writer of open) await writer.close().catch(() => undefined);
      const command = { reference, config, script, startMs: clock.now(), folder };
      const run = await runProcess(context.processes, parts, command, options);
      if (run.error) context.onSaid("the error of a writer", JSON.stringify(run.error));
      if (run.error && options.maxFileBytes === undefined)
        throw new ConnectorError(run.error.code, run.error.details);
      clock.pass(script.steps.length * 60_000);
      return run;
    },
    async [Symbol.asyncDispose]() {
      for (const writer of open) await writer.close().catch(() => undefined);
      await parts.remove();
    },
  };
  return place;
}

/** Runs a script in a process of its own, which is killed at its moment. */
async function runProcess(
  processes: Processes,
  parts: Pick<PlaceParts, "way">,
  command: Omit<ChildCommand, "port" | "ca">,
  options: ProcessOptions,
): Promise<ProcessRun> {
  let kill = () => {};
  const moment = options.kill;
  await using way = await parts.way(
    moment?.at === "query" ? { onQuery: (index) => void (index === moment.index && kill()) } : {},
  );
  return await processes.run(
    { ...command, port: way.port, ca: way.seams.ca },
    options,
    way.queryCount,
    (end) => {
      kill = end;
    },
  );
}

const toObject = (columns: Table["columns"], row: Table["rows"][number]): JsonObject =>
  Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
