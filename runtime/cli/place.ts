import { stat } from "node:fs/promises";
import { extname, relative, resolve } from "node:path";
import type { Sink } from "../contract/sink.ts";
import { openDuckdbComparison, openDuckdbOutput } from "../sinks/duckdb.ts";
import { openJsonlOutput } from "../sinks/jsonl.ts";
import { createLineSink } from "../sinks/lines.ts";
import type { CompareOptions, OutputOptions, OutputSink } from "../sinks/output.ts";
import { openTableFiles, tableFormats } from "../sinks/table-files.ts";
import type { OutputStream } from "./terminal.ts";
import { printable, UsageError } from "./usage.ts";

/** Where `svc read` leaves rows. */
export interface Place {
  /** As people write it. */
  readonly name: string;
  readonly kind: "folder" | "duckdb" | "parquet" | "arrow" | "stdout";
  open(options: OutputOptions): Promise<OutputSink>;
  /** Undefined: its rows cannot be taken away again. */
  compareKeys?(options: CompareOptions): Promise<Sink>;
}

/** The forms of `--out`, as the help and refusals list them. */
export const placeForms =
  "a folder for JSON lines (default ./out), a .duckdb file for tables, a .parquet or .arrow folder for files of that form, or - for the rows of one stream on stdout";

/**
 * Folders whose names end like a file are somebody's mistake: a person who writes `--out x.csv`
 * wants no folder of JSON lines.
 */
const fileEndings = new Set(
  ".avro .csv .feather .gz .json .jsonl .ndjson .orc .sql .sqlite .sqlite3 .tsv .txt .xlsx .xml .yaml .yml .zip .zst".split(
    " ",
  ),
);

/**
 * @throws UsageError for what is no form of a place; it never shows an address, which may hold a
 * password
 */
export async function choosePlace(
  out: string,
  { cwd, stdout }: { readonly cwd: string; readonly stdout: OutputStream },
): Promise<Place> {
  const forms = `--out is ${placeForms}`;
  if (out === "-")
    return { name: "stdout", kind: "stdout", open: async () => createLineSink(stdout) };
  if (/^[a-z][a-z0-9+.-]+:/i.test(out) || /^[^/\\]*@[^/\\]*$/.test(out))
    throw new UsageError(`--out is an address, which cannot be written to; ${forms}`);
  const path = resolve(cwd, out);
  const name = relative(cwd, path).startsWith("..") ? path : `./${relative(cwd, path)}`;
  const found = await stat(path).catch(() => undefined);
  if (/\.(duckdb|ddb|db)$/i.test(path) && !found?.isDirectory())
    return {
      name,
      kind: "duckdb",
      open: async (options) => openDuckdbOutput(path, options),
      compareKeys: async (options) => openDuckdbComparison(path, options),
    };
  if (found && !found.isDirectory())
    throw new UsageError(`--out ${printable(out)} is a file; ${forms}`);
  const ending = extname(path).toLowerCase();
  const format = tableFormats.find((one) => ending === `.${one}`);
  if (format)
    return { name, kind: format, open: (options) => openTableFiles(path, format, options) };
  if (!found && fileEndings.has(ending)) {
    const hint =
      ending === ".csv"
        ? `; for .csv read into a .duckdb file, and COPY a table from it: duckdb x.duckdb -c "COPY public.orders TO 'orders.csv'"`
        : "";
    throw new UsageError(`--out cannot write ${ending}; ${forms}${hint}`);
  }
  return { name, kind: "folder", open: (options) => openJsonlOutput(path, options) };
}
