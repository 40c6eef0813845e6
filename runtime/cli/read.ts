import { Option } from "@commander-js/extra-typings";
import type { ConfiguredStream } from "../contract/catalog.ts";
import { type ColumnTypeChange, type DeleteMode, deleteModes } from "../contract/destination.ts";
import { maxParallelStreams, type ReadSummary } from "../contract/host.ts";
import { withHashedFields } from "../spec/hashed-fields.ts";
import { answer, jsonFlag } from "./answer.ts";
import {
  connectorArgument,
  type HostValues,
  openConnector,
  requireConfigured,
} from "./connector.ts";
import { addCursor, type ChosenCursors } from "./cursors.ts";
import { chooseDeletes, type Followed, followDeletes } from "./deletes.ts";
import { exitCode } from "./exit.ts";
import { readConfig } from "./files.ts";
import { type HashKey, openHashKey, readHashKey } from "./hash-key.ts";
import { addTrialOptions, oneOf, wholeNumber } from "./options.ts";
import {
  addColumns,
  addCondition,
  type ChosenColumns,
  type ChosenConditions,
  joinParts,
  takeChoices,
} from "./parts.ts";
import { choosePlace, placeForms } from "./place.ts";
import type { CommandBuilder } from "./program.ts";
import { createProgress } from "./progress.ts";
import { describeChanged, openAsBefore } from "./read-before.ts";
import { report, toDocument } from "./read-report.ts";
import {
  describeResumption,
  describeSelection,
  expectRows,
  selectStreams,
  wantedBy,
} from "./selection.ts";
import type { Terminal } from "./terminal.ts";
import { printable, UsageError } from "./usage.ts";
import { collectWarnings } from "./warnings.ts";

/**
 * `svc read <connector> --config f`: for people. Discovers, selects, shows progress on stderr,
 * leaves JSON lines or DuckDB tables, and ends with a table of what was read. A later run goes on
 * where this one stopped.
 */
export const buildRead: CommandBuilder = (command, terminal) => {
  addTrialOptions(command)
    .usage("[options] <connector> --config FILE")
    .argument("[connector]", connectorArgument)
    .allowExcessArguments()
    .option("--streams <A,B>", "streams to read; default all")
    .option("--out <PLACE>", placeForms)
    .option("--incremental", "read only what is new wherever that is possible")
    .option("--full-refresh", "read everything again")
    .option(...jsonFlag)
    .addOption(
      new Option(
        "--cursor <STREAM=COLUMN>",
        "read a stream incrementally by this column, as often as you like; *=COLUMN for all that have it",
      )
        .argParser(addCursor)
        .default(new Map() as ChosenCursors, "none"),
    )
    .addOption(
      new Option("--columns <STREAM=A,B>", "read only these columns of a stream, and its key")
        .argParser(addColumns("columns"))
        .default(new Map() as ChosenColumns, "all"),
    )
    .addOption(
      new Option(
        "--hash <STREAM=A,B>",
        "leave a keyed hash in the place of these columns' values; *=A for all that have it",
      )
        .argParser(addColumns("hash"))
        .default(new Map() as ChosenColumns, "none"),
    )
    .option("--hash-key <FILE>", "the key of hashes; default svc-hash.key beside the configuration")
    .addOption(
      new Option(
        "--where <STREAM=CONDITION>",
        "read only the rows that meet it, as in 'public.orders=status = paid'; several are joined by and",
      )
        .argParser(addCondition)
        .default(new Map() as ChosenConditions, "all rows"),
    )
    .addOption(
      new Option(
        "--detect-deletes <MODE>",
        "compare keys after an incremental read; rows that the source has no more: soft marks them in _svc_deleted_at, hard removes them",
      ).argParser(oneOf("detect-deletes", deleteModes)),
    )
    .option("--confirm-deletes", "delete more than half of a table's rows too")
    .option(
      "--parallel <N>",
      `streams that are read at the same time, 1 to ${maxParallelStreams}; default 1`,
      wholeNumber("parallel", 1, maxParallelStreams),
    )
    .addHelpText("after", "\nExample: svc read postgres --config my-db.yaml --out shop.duckdb")
    .action(async (wanted, options, { args: [, unexpected] }) => {
      if (unexpected !== undefined)
        throw new UsageError(
          `unexpected "${printable(unexpected)}"; streams are named by --streams a,b`,
        );
      if (options.incremental && options.fullRefresh)
        throw new UsageError("choose one of --incremental and --full-refresh");
      if (options.fullRefresh && options.cursor.size > 0)
        throw new UsageError("choose one of --cursor and --full-refresh");
      if (options.json && options.out === "-")
        throw new UsageError("choose one of --json and --out -: both write to stdout");
      const { name, path } = requireConfigured("read", wanted, options.config, terminal);
      await read(name, { ...options, config: path }, terminal);
    });
};

interface ReadOptions extends HostValues {
  readonly config: string;
  readonly out?: string | undefined;
  readonly streams?: string | undefined;
  readonly cursor: ChosenCursors;
  readonly columns: ChosenColumns;
  readonly hash: ChosenColumns;
  readonly hashKey?: string | undefined;
  readonly where: ChosenConditions;
  readonly incremental?: true | undefined;
  readonly fullRefresh?: true | undefined;
  readonly detectDeletes?: DeleteMode | undefined;
  readonly confirmDeletes?: true | undefined;
  readonly parallel?: number | undefined;
  readonly json?: true | undefined;
}

async function read(name: string, options: ReadOptions, terminal: Terminal): Promise<void> {
  const { incremental, fullRefresh } = options;
  const mode = incremental ? "incremental" : fullRefresh ? "full_refresh" : undefined;
  const { clock, signal, isTTY, columns, cwd, err } = terminal;
  const place = await choosePlace(options.out ?? "out", { cwd, stdout: terminal.out });
  const { config, cursors, parts } = takeChoices(await readConfig(options.config, cwd));
  await using opened = await openConnector(terminal, name, options);
  const { host, connector, id } = opened;
  const progress = createProgress({
    clock,
    isTTY,
    columns,
    write: (text) => void err.write(text).catch(() => undefined),
  });
  const startedMs = clock.now();
  const warnings = collectWarnings();
  const found = await host.discover(connector, config, {
    signal,
    onEvent(event) {
      if (event.type === "waiting") progress.event(event);
      else warnings.event(event);
    },
  });
  for (const line of warnings.lines(wantedBy(options.streams))) await err.line(line);
  const chosen = new Map([...cursors, ...options.cursor]);
  const streams = selectStreams(found, options.streams, mode, chosen, joinParts(parts, options));
  if (place.kind === "stdout" && streams.length > 1)
    throw new UsageError(
      "--out - takes the rows of one stream; name it with --streams, or take `svc run … read` for messages of several",
    );
  const deletes = chooseDeletes(options.detectDeletes, place, streams);
  for (const line of [...describeSelection(streams), ...(deletes?.lines ?? [])])
    await err.line(line);
  const hashKey = await hashKeyOf(streams, options, cwd);
  if (hashKey?.madeIn)
    await err.line(
      `A key for hashes was made: ${printable(hashKey.madeIn)}. Keep it, and keep it secret: equal values have equal hashes under one key only.`,
    );
  const columnChanges: ColumnTypeChange[] = [];
  const output = {
    connectorId: id,
    clock,
    streams: streams.map(withHashedFields),
    runId: `read ${new Date(startedMs).toISOString()}`,
    onColumnChanged: (change: ColumnTypeChange) => void columnChanges.push(change),
  };
  const sink = await openAsBefore(place, output, hashKey?.key);
  let followed: Followed;
  try {
    for (const line of describeChanged(sink.restarted)) await err.line(line);
    const state = sink.savedState();
    for (const line of describeResumption(streams, state)) await err.line(line);
    const request = {
      config,
      catalog: { streams },
      state,
      hashKey: hashKey?.key,
      parallelStreams: options.parallel,
      isPart: options.streams !== undefined,
    };
    const watched = progress.watch(sink, expectRows(streams, state));
    const verb = { signal, onEvent: progress.event };
    const summary = await host.read(connector, request, watched, verb);
    followed = deletes
      ? await followDeletes(summary, deletes, {
          output,
          isConfirmed: options.confirmDeletes === true,
          config,
          hashKey: hashKey?.key,
          read: (keys, to) => host.read(connector, keys, to, verb),
        })
      : { summary, deleted: new Map() };
  } finally {
    progress.end();
    await sink.close();
  }
  const durationMs = clock.now() - startedMs;
  const done = { ...followed, streams, sink, place, durationMs, columnChanges };
  const summaryTo = place.kind === "stdout" ? err : terminal.out;
  await answer({ out: summaryTo }, options.json, toDocument(done), () => report(done));
  terminal.exitCode = exitCodeOfRead[followed.summary.status];
}

/** Undefined: nothing is hashed. */
async function hashKeyOf(
  streams: readonly ConfiguredStream[],
  { config, hashKey }: ReadOptions,
  cwd: string,
): Promise<HashKey | undefined> {
  if (!streams.some(({ hashed_fields }) => hashed_fields)) return undefined;
  return hashKey === undefined
    ? await openHashKey(config, cwd)
    : { key: await readHashKey(hashKey, cwd) };
}

const exitCodeOfRead = {
  succeeded: exitCode.ok,
  cancelled: exitCode.interrupted,
  failed: exitCode.failed,
} as const satisfies Record<ReadSummary["status"], number>;
