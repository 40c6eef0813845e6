/**
 * What the output filter costs on columns, by where rows hold what: each against the same clean
 * texts as columns, in turns. node --conditions=svc-source bench/leak-columns.ts
 */
import { columnOf } from "../fixtures/batches.ts";
import { linesOfBatch } from "../fixtures/rows-as-batch.ts";
import type { Batch, Column } from "../runtime/contract/batch.ts";
import { createSecretRegistry, type SecretRegistry } from "../runtime/filter/secrets.ts";

const rowCount = 8_000;
const rounds = 7;
/** The clock of the processor has steps of ten milliseconds in some machines. */
const repeats = 100;
const secret = "q7Zt3LmX9aRk2VwB8nYc5HdJ4sPf6GxT1uKeQ0iNoMrWb";
const digits = "key-98765432101234567890-x";

const words = (row: number) => `person${row * 7_919} asked to be called back about offer ${row}`;
const texts = (name: string, valueAt: (row: number) => string = words) =>
  columnOf(
    name,
    { kind: "text", encoding: "utf8" },
    Array.from({ length: rowCount }, (_, row) => valueAt(row)),
  );
const longs = (encoding: "int64" | "number") =>
  columnOf(
    "n",
    { kind: "integer", encoding },
    Array.from({ length: rowCount }, (_, row) => {
      const value = 1_234_567_890_000_000_000n + BigInt(row) * 7_919n;
      return encoding === "int64" ? value : String(value);
    }),
  );
const json = () =>
  columnOf(
    "j",
    { kind: "json", encoding: "json" },
    Array.from({ length: rowCount }, (_, row) => JSON.stringify([words(row)])),
  );
const bytes = () =>
  columnOf(
    "b",
    { kind: "binary", encoding: "binary" },
    Array.from({ length: rowCount }, (_, row) => Buffer.from(words(row))),
  );
const batchOf = (...columns: Column[]): Batch => ({ rowCount, columns, notes: [] });
const registryOf = (...secrets: string[]) => {
  const registry = createSecretRegistry();
  for (const one of secrets) registry.add(one);
  return registry;
};

/** Pieces of six characters in neighbouring rows, so many times in the column. */
const spread = (times: number) => {
  const pieces = secret.match(/.{1,6}/g) ?? [];
  const every = Math.floor(rowCount / times);
  return (row: number) => pieces[row % every] ?? words(row);
};
const each = (times: number) => (row: number) =>
  row % Math.floor(rowCount / times) === 0 ? `x ${secret}` : words(row);

const clean = batchOf(texts("a"), texts("b"));
const plain = registryOf(secret);
const ofDigits = registryOf(digits);
const lines = Buffer.from(linesOfBatch(clean));
const cases: Record<
  string,
  { readonly batches: readonly Batch[]; readonly registry: SecretRegistry; readonly lines?: Buffer }
> = {
  "clean texts": { batches: [clean], registry: plain },
  "the same as lines": { batches: [clean], registry: plain, lines },
  "clean JSON": { batches: [batchOf(json(), json())], registry: plain },
  "clean bytes": { batches: [batchOf(bytes(), bytes())], registry: plain },
  "in one value": { batches: [batchOf(texts("a", each(1)), texts("b"))], registry: plain },
  "in 100 values": { batches: [batchOf(texts("a", each(100)), texts("b"))], registry: plain },
  "over neighbouring rows, once": {
    batches: [batchOf(texts("a", spread(1)), texts("b"))],
    registry: plain,
  },
  "over neighbouring rows, 100 times": {
    batches: [batchOf(texts("a", spread(100)), texts("b"))],
    registry: plain,
  },
  "over two columns": {
    batches: [
      batchOf(
        texts("a", () => secret.slice(0, 9)),
        texts("b", () => secret.slice(9, 18)),
      ),
    ],
    registry: plain,
  },
  "over two batches": {
    batches: [
      batchOf(
        texts("a", (row) => (row === rowCount - 1 ? secret.slice(0, 9) : words(row))),
        texts("b"),
      ),
      batchOf(
        texts("a", (row) => (row === 0 ? secret.slice(9, 18) : words(row))),
        texts("b"),
      ),
    ],
    registry: plain,
  },
  "numbers of 64 bits, a secret without long digits": {
    batches: [batchOf(longs("int64"))],
    registry: plain,
  },
  "numbers of 64 bits, a secret with twenty digits": {
    batches: [batchOf(longs("int64"))],
    registry: ofDigits,
  },
  "numbers as text, a secret without long digits": {
    batches: [batchOf(longs("number"))],
    registry: plain,
  },
  "numbers as text, a secret with twenty digits": {
    batches: [batchOf(longs("number"))],
    registry: ofDigits,
  },
};

/** Nanoseconds a value. */
const times = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
for (let round = 0; round < rounds; round++)
  for (const [name, { batches, registry, lines: rendered }] of Object.entries(cases)) {
    const before = process.threadCpuUsage();
    for (let repeat = 0; repeat < repeats; repeat++)
      for (const batch of batches)
        if (rendered) registry.redactLines(rendered);
        else registry.redactBatch(batch);
    const { user, system } = process.threadCpuUsage(before);
    const values = batches.reduce((sum, { columns }) => sum + columns.length * rowCount, 0);
    times.get(name)?.push(((user + system) * 1_000) / values / repeats);
  }
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const base = median(times.get("clean texts") ?? []);
for (const [name, measured] of times)
  console.log(
    `${name.padEnd(50)} ${median(measured).toFixed(0).padStart(6)} ns a value ${(median(measured) / base).toFixed(2).padStart(6)} ×`,
  );
