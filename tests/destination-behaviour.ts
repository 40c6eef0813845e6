/**
 * The suite proves what a destination of svc promises beyond the kit's rules
 * (conformance/destination/rules): it drives a sink as a read does (open, started, batches,
 * checkpoint, complete, close) and looks at the tables as people do. A crash is a new writer while
 * the old one was never closed.
 */
import fc from "fast-check";
import type {
  Clock,
  Commit,
  ConfiguredStream,
  JsonValue,
  StreamDescriptor,
} from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TakingLines } from "../fixtures/taking-lines.ts";
import type {
  CompareCommand,
  DestinationSink,
  DestinationStream,
  DestinationSyncMode,
  QueryCommand,
  QueryResult,
  WriteCommand,
} from "../runtime/contract/destination.ts";
import type { Sink } from "../runtime/contract/sink.ts";
import { choose } from "./effort.ts";

/**
 * An empty place of one destination, for one file of tests. Calls of one test and the next come one
 * after the other.
 */
export interface DestinationPlace {
  write(order: WriteCommand): Promise<TakingLines<DestinationSink>>;
  compareKeys(order: CompareCommand): Promise<TakingLines<Sink>>;
  check(): Promise<void>;
  query(order: QueryCommand): Promise<QueryResult>;
  /**
   * Runs one statement as people beside svc do, in UTC; may be called while a writer is open.
   * Values as text.
   */
  sql(text: string): Promise<(string | null)[][]>;
  close(): Promise<void>;
}

/** Rows of a test: a JSON value, or a line as it arrives. */
type Line = { readonly [property: string]: JsonValue } | string;

export interface Described {
  readonly name?: string;
  readonly namespace?: string;
  readonly table?: string;
  readonly schema?: string;
  readonly mode?: "full_refresh" | "incremental";
  readonly into?: DestinationSyncMode;
  readonly key?: readonly string[];
  readonly cursor?: string;
  readonly fields?: readonly string[];
  readonly isResumable?: boolean;
  readonly isRestart?: boolean;
  readonly detectDeletes?: DestinationStream["detectDeletes"];
}

const text = { type: "string" };
const integer = { type: "integer" };

/** A stream as the control layer orders it. */
export function describeStream(
  properties: { readonly [property: string]: object },
  described: Described = {},
): DestinationStream {
  const {
    name = "things",
    namespace,
    table = `_svc_${name}`,
    schema,
    mode = "incremental",
    into = "append",
  } = described;
  const { key = [], cursor, fields, isResumable = false, isRestart, detectDeletes } = described;
  const configured: ConfiguredStream = {
    stream: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      json_schema: { type: "object", properties },
      supported_sync_modes: ["full_refresh", "incremental"],
      source_defined_cursor: false,
      default_cursor_field: [],
      source_defined_primary_key: key.map((property) => [property]),
      is_resumable: isResumable,
    },
    sync_mode: mode,
    destination_sync_mode: into,
    ...(cursor === undefined ? {} : { cursor_field: [cursor] }),
    ...(fields === undefined ? {} : { selected_fields: fields }),
  };
  return {
    configured,
    table,
    ...(schema === undefined ? {} : { schema }),
    ...(isRestart === undefined ? {} : { isRestart }),
    ...(detectDeletes === undefined ? {} : { detectDeletes }),
  };
}

const descriptorOf = ({ configured: { stream } }: DestinationStream): StreamDescriptor =>
  stream.namespace === undefined
    ? { name: stream.name }
    : { name: stream.name, namespace: stream.namespace };

const quote = (name: string) => `"${name.replaceAll('"', '""')}"`;
const toLine = (line: Line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`;

/** @param open an empty place; its context has this clock */
export function describeDestination(
  name: string,
  open: (clock: Clock) => Promise<DestinationPlace>,
) {
  describe(name, () => {
    let place: DestinationPlace;
    let nowMs = 1_700_000_000_000;
    let count = 0;
    const sinks: DestinationSink[] = [];
    beforeAll(async () => {
      place = await open({ now: () => nowMs, sleep: async () => {} });
    });
    afterAll(async () => {
      for (const sink of sinks) await sink.close().catch(() => undefined);
      await place?.close();
    });

    /** Names of a test's own. */
    const fresh = () => ({ owner: `pipe_${++count}`, name: `s${count}` });

    interface Writer {
      readonly sink: TakingLines<DestinationSink>;
      readonly commits: Commit[];
      start(stream: DestinationStream): Promise<void>;
      put(stream: DestinationStream, ...lines: Line[]): Promise<void>;
      /** A checkpoint; time has passed, so a commit is due. */
      commit(stream: DestinationStream, state: JsonValue): Promise<void>;
      complete(stream: DestinationStream): Promise<void>;
      state(stream: DestinationStream): JsonValue | undefined;
    }

    async function writer(
      owner: string,
      fence: number,
      ...streams: DestinationStream[]
    ): Promise<Writer> {
      const commits: Commit[] = [];
      const order: WriteCommand = {
        owner,
        jobId: `job_${fence}`,
        fence,
        streams,
        onCommitted: (one) => commits.push(one),
      };
      const sink = await place.write(order);
      sinks.push(sink);
      await sink.open(streams.map(({ configured }) => configured));
      return {
        sink,
        commits,
        start: (stream) => sink.status(descriptorOf(stream), "started"),
        put: (stream, ...lines) =>
          sink.write(descriptorOf(stream), Buffer.from(lines.map(toLine).join("")), lines.length),
        commit(stream, state) {
          nowMs += 60_000;
          return sink.checkpoint(descriptorOf(stream), state, 1);
        },
        complete: (stream) => sink.status(descriptorOf(stream), "complete"),
        state: (stream) =>
          sink.savedState().find((saved) => saved.stream.name === stream.configured.stream.name)
            ?.state,
      };
    }

    /**
     * A whole run of one stream; each batch ends with a checkpoint. Gives the name of its table.
     */
    async function run(
      owner: string,
      fence: number,
      stream: DestinationStream,
      ...batches: Line[][]
    ): Promise<string> {
      const writing = await writer(owner, fence, stream);
      await writing.start(stream);
      for (const [index, lines] of batches.entries()) {
        await writing.put(stream, ...lines);
        await writing.commit(stream, { batch: fence * 100 + index });
      }
      await writing.complete(stream);
      await writing.sink.close();
      return writing.sink.location(descriptorOf(stream));
    }

    const select = (location: string, columns: readonly string[], order = columns) =>
      place.sql(
        `SELECT ${columns.map((column) => `CAST(${quote(column)} AS VARCHAR)`).join(", ")} FROM ${location} ORDER BY ${order.map(quote).join(", ")}`,
      );
    const ids = async (location: string) =>
      (await select(location, ["id"])).map(([id]) => Number(id));

    describe("append", () => {
      test("rows and the state that goes with them are there after each commit, and tell it", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name });
        const one = await writer(owner, 1, stream);
        expect(one.state(stream)).toBeUndefined();
        expect(one.sink.location(descriptorOf(stream))).toBe("");
        await one.start(stream);
        await one.put(stream, { id: 1 }, { id: 2 });
        await one.commit(stream, { at: 2 });
        const location = one.sink.location(descriptorOf(stream));
        expect(await ids(location)).toEqual([1, 2]);
        expect(one.commits).toEqual([
          { stream: descriptorOf(stream), rowCount: 2, state: { at: 2 } },
        ]);
        await one.put(stream, { id: 3 });
        await one.commit(stream, { at: 3 });
        await one.complete(stream);
        await one.sink.close();
        expect(one.commits.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(3);
        const two = await writer(owner, 2, stream);
        expect(two.state(stream)).toEqual({ at: 3 });
        await two.start(stream);
        await two.put(stream, { id: 3 });
        await two.commit(stream, { at: 4 });
        await two.complete(stream);
        await two.sink.close();
        expect(await ids(location)).toEqual([1, 2, 3, 3]);
      });

      test("a full refresh adds all of its rows at the end, and none when it does not come to it", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name, mode: "full_refresh" });
        const location = await run(owner, 1, stream, [{ id: 1 }, { id: 2 }]);
        const two = await writer(owner, 2, stream);
        expect(two.state(stream)).toBeUndefined();
        await two.start(stream);
        await two.put(stream, { id: 3 });
        await two.commit(stream, { at: 3 });
        expect(await ids(location)).toEqual([1, 2]);
        await run(owner, 3, stream, [{ id: 3 }], [{ id: 4 }]);
        expect(await ids(location)).toEqual([1, 2, 3, 4]);
      });

      test("a full refresh is there once for each job, also when a killed host did not learn that it was done", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(
          { id: integer },
          { name, mode: "full_refresh", isResumable: true },
        );
        const begun = await writer(owner, 1, stream);
        await begun.start(stream);
        await begun.put(stream, { id: 1 });
        await begun.commit(stream, { after: 1 });
        const rest = [{ id: 2 }, { id: 3 }];
        let location = "";
        for (const [index, jobId] of (["job_a", "job_a", "job_b", "job_b"] as const).entries()) {
          const sink = await place.write({ owner, jobId, fence: index + 2, streams: [stream] });
          sinks.push(sink);
          await sink.open([stream.configured]);
          // The first goes on with what another job has begun.
          expect(sink.savedState().map(({ state }) => state)).toEqual(
            index === 0 ? [{ after: 1 }] : [],
          );
          const rows = index === 0 ? rest : [{ id: 1 }, ...rest];
          await sink.status(descriptorOf(stream), "started");
          await sink.write(
            descriptorOf(stream),
            Buffer.from(rows.map(toLine).join("")),
            rows.length,
          );
          await sink.status(descriptorOf(stream), "complete");
          location = sink.location(descriptorOf(stream));
          await sink.close();
        }
        expect(await ids(location)).toEqual([1, 1, 2, 2, 3, 3]);
      });

      test("what was read before a stream was cancelled stays; streams that did not start are left alone", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name });
        const other = describeStream({ id: integer }, { name: `${name}_other` });
        await run(owner, 1, other, [{ id: 1 }]);
        const two = await writer(owner, 2, stream, other);
        await two.start(stream);
        await two.put(stream, { id: 1 });
        await two.commit(stream, { at: 1 });
        await two.put(stream, { id: 2 });
        await two.sink.checkpoint(descriptorOf(stream), { at: 2 }, 1);
        await two.put(stream, { id: 3 });
        await two.sink.status(descriptorOf(stream), "incomplete");
        await two.sink.close();
        expect(await ids(two.sink.location(descriptorOf(stream)))).toEqual([1, 2]);
        const three = await writer(owner, 3, stream, other);
        expect([three.state(stream), three.state(other)]).toEqual([{ at: 2 }, { batch: 100 }]);
        expect(await ids(three.sink.location(descriptorOf(other)))).toEqual([1]);
        await three.sink.close();
      });
    });

    describe("streams that are read at the same time", () => {
      const text = "x".repeat(100_000);

      test("leave each what its own state covers, when the writer is gone", async () => {
        const { owner, name } = fresh();
        const fields = { id: integer, text: { type: "string" } };
        const wide = describeStream(fields, { name });
        const other = describeStream(
          { id: integer },
          { name: `${name}_other`, into: "append_dedup", key: ["id"] },
        );
        const one = await writer(owner, 1, wide, other);
        await one.start(wide);
        await one.put(wide, { id: 1, text });
        await one.commit(wide, { at: 1 });
        await one.start(other);
        // More than a destination keeps in memory, and no state that covers it.
        for (let id = 2; id < 100; id++) await one.put(wide, { id, text });
        await one.put(other, { id: 1 }, { id: 2 });
        await one.commit(other, { at: 2 });
        await one.put(wide, { id: 100, text });
        const two = await writer(owner, 2, wide, other);
        expect([two.state(wide), two.state(other)]).toEqual([{ at: 1 }, { at: 2 }]);
        expect(await ids(two.sink.location(descriptorOf(wide)))).toEqual([1]);
        expect(await ids(two.sink.location(descriptorOf(other)))).toEqual([1, 2]);
        await two.sink.close();
      });

      test("are complete in whatever order they end, and others begin after them", async () => {
        const { owner, name } = fresh();
        const streams = [
          describeStream({ id: integer }, { name }),
          describeStream({ id: integer }, { name: `${name}_b`, into: "append_dedup", key: ["id"] }),
          describeStream(
            { id: integer },
            { name: `${name}_c`, mode: "full_refresh", into: "overwrite" },
          ),
          describeStream(
            { id: integer },
            { name: `${name}_d`, mode: "full_refresh", isResumable: true },
          ),
        ] as const;
        const [a, b, c, d] = streams;
        const { sink, start, put, commit, complete } = await writer(owner, 1, ...streams);
        for (const stream of [a, b, c]) await start(stream);
        for (let id = 1; id < 4; id++) for (const stream of [a, b, c]) await put(stream, { id });
        await commit(b, { at: 3 });
        await complete(c);
        await start(d);
        await put(d, { id: 1 });
        await put(a, { id: 4 });
        await complete(a);
        await commit(d, { at: 1 });
        await put(b, { id: 4 });
        await complete(d);
        await complete(b);
        await sink.close();
        const found = [];
        for (const stream of streams) found.push(await ids(sink.location(descriptorOf(stream))));
        expect(found).toEqual([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3], [1]]);
      });
    });

    describe("overwrite", () => {
      test("an empty result empties the table; a first one has its columns", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(
          { id: integer },
          { name, mode: "full_refresh", into: "overwrite" },
        );
        const location = await run(owner, 1, stream);
        expect(await ids(location)).toEqual([]);
        await run(owner, 2, stream, [{ id: 1 }]);
        await run(owner, 3, stream, []);
        expect(await ids(location)).toEqual([]);
      });

      test.each([
        ["incremental", "append"],
        ["incremental", "append_dedup"],
        ["full_refresh", "append"],
        ["full_refresh", "append_dedup"],
        ["full_refresh", "overwrite"],
      ] as const)("one from the beginning that brings nothing leaves no row, no state and nothing half done of %s, %s", async (mode, into) => {
        const { owner, name } = fresh();
        const described = { name, mode, into, key: ["id"], isResumable: true } as const;
        const stream = describeStream({ id: integer }, described);
        const location = await run(owner, 1, stream, [{ id: 1 }]);
        const two = await writer(owner, 2, { ...stream, isRestart: true });
        await two.start(stream);
        await two.put(stream, { id: 2 });
        await two.commit(stream, { at: 2 });
        const emptied = describeStream(
          { id: integer },
          { ...described, mode: "full_refresh", into: "overwrite", isRestart: true },
        );
        // Twice: it may be tried again.
        for (const fence of [3, 4]) {
          await run(owner, fence, emptied);
          expect(await ids(location)).toEqual([]);
        }
        const after = await writer(owner, 5, stream);
        expect(after.state(stream)).toBeUndefined();
        await after.sink.close();
        await run(owner, 6, stream, [{ id: 1 }, { id: 3 }]);
        expect(await ids(location)).toEqual([1, 3]);
      });

      test("one that can resume goes on after a crash with the rows that its last commit covers", async () => {
        const { owner, name } = fresh();
        const described = {
          name,
          mode: "full_refresh",
          into: "overwrite",
          isResumable: true,
        } as const;
        const stream = describeStream({ id: integer }, described);
        const location = await run(owner, 1, stream, [{ id: 0 }]);
        const two = await writer(owner, 2, stream);
        await two.start(stream);
        await two.put(stream, { id: 1 });
        await two.commit(stream, { at: 1 });
        await two.put(stream, { id: 2 });
        const three = await writer(owner, 3, stream);
        expect(three.state(stream)).toEqual({ at: 1 });
        expect(await ids(location)).toEqual([0]);
        await three.start(stream);
        await three.put(stream, { id: 2 });
        await three.complete(stream);
        await three.sink.close();
        expect(await ids(location)).toEqual([1, 2]);
        const four = await writer(owner, 4, stream);
        expect(four.state(stream)).toBeUndefined();
        await four.sink.close();
      });

      test("rows of a resumed one that come again replace those of their key", async () => {
        const { owner, name } = fresh();
        const described = {
          name,
          mode: "full_refresh",
          into: "overwrite",
          isResumable: true,
          key: ["id"],
        } as const;
        const stream = describeStream({ id: integer, value: text }, described);
        const one = await writer(owner, 1, stream);
        await one.start(stream);
        await one.put(stream, { id: 1, value: "a" }, { id: 2, value: "b" });
        await one.commit(stream, { at: 1 });
        const location = await run(owner, 2, stream, [
          { id: 2, value: "again" },
          { id: 3, value: "c" },
        ]);
        expect(await select(location, ["id", "value"])).toEqual([
          ["1", "a"],
          ["2", "again"],
          ["3", "c"],
        ]);
      });
    });

    describe("append_dedup", () => {
      const properties = {
        org: text,
        id: integer,
        at: integer,
        value: text,
        _ab_cdc_deleted_at: { type: ["string", "null"] },
      };

      test("the table is what a model of it says, however rows are cut into pages and runs", async () => {
        const event = fc.record({
          id: fc.integer({ min: 1, max: 3 }),
          at: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 6 }),
          isDeleted: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
        });
        const runs = fc.array(fc.array(fc.array(event, { maxLength: 6 }), { maxLength: 3 }), {
          minLength: 1,
          maxLength: 3,
        });
        const property = fc.asyncProperty(
          runs,
          fc.boolean(),
          fc.boolean(),
          async (runs, hasCursor, isFull) => {
            const { owner, name } = fresh();
            const described = {
              name,
              into: "append_dedup",
              key: ["id"],
              mode: isFull ? "full_refresh" : "incremental",
            } as const;
            const stream = describeStream(
              {
                id: integer,
                at: { type: ["integer", "null"] },
                n: integer,
                _svc_deleted_at: { type: ["string", "null"] },
              },
              hasCursor ? { ...described, cursor: "at" } : described,
            );
            const model = new Map<
              number,
              { readonly at: number; readonly n: number; readonly isDeleted: boolean }
            >();
            let arrived = 0;
            let location = "";
            for (const [index, batches] of runs.entries()) {
              const lines = batches.map((batch) =>
                batch.map(({ id, at, isDeleted }) => {
                  const known = model.get(id);
                  const n = ++arrived;
                  const order = hasCursor ? (at ?? -1) : 0;
                  if (!known || order >= known.at) model.set(id, { at: order, n, isDeleted });
                  return { id, at, n, _svc_deleted_at: isDeleted ? "2024-01-01" : null };
                }),
              );
              location = await run(owner, index + 1, stream, ...lines);
            }
            const expected = [...model]
              .filter(([, { isDeleted }]) => !isDeleted)
              .map(([id, { n }]) => [String(id), String(n)]);
            expect(await select(location, ["id", "n"])).toEqual(
              expected.sort(([a = ""], [b = ""]) => Number(a) - Number(b)),
            );
          },
        );
        await fc.assert(property, { numRuns: choose({ quick: 8, whole: 25 }) });
      });

      test("rows that a crashed attempt had committed are replaced, not doubled", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, {
          name,
          into: "append_dedup",
          key: ["id"],
          mode: "full_refresh",
        });
        const one = await writer(owner, 1, stream);
        await one.start(stream);
        await one.put(stream, { id: 1 }, { id: 2 });
        await one.commit(stream, { at: 1 });
        const location = await run(owner, 2, stream, [{ id: 1 }, { id: 2 }, { id: 3 }]);
        expect(await ids(location)).toEqual([1, 2, 3]);
      });

      test("a table that was appended to is deduplicated when the mode changes", async () => {
        const { owner, name } = fresh();
        const plain = describeStream(properties, { name, key: ["id"], cursor: "at" });
        const location = await run(owner, 1, plain, [
          { id: 1, at: 2, value: "b" },
          { id: 1, at: 1, value: "a" },
          { id: 2, at: 1 },
        ]);
        const stream = describeStream(properties, {
          name,
          into: "append_dedup",
          key: ["id"],
          cursor: "at",
        });
        await run(owner, 2, stream, [{ id: 3, at: 1 }]);
        expect(await select(location, ["id", "at"])).toEqual([
          ["1", "2"],
          ["2", "1"],
          ["3", "1"],
        ]);
      });

      test("rows that are marked as deleted stay when the key is another one, and no row goes for what was deleted by the old one", async () => {
        const { owner, name } = fresh();
        const by = (key: string) =>
          describeStream(
            { ...properties, code: { type: ["integer", "null"] } },
            { name, into: "append_dedup", key: [key], cursor: "at", detectDeletes: "soft" },
          );
        const _ab_cdc_deleted_at = "2024-05-06T07:08:09Z";
        const codes = [11, 1, 13, null, null, 17, 17, 19, 19, 20];
        const rows = codes.map((code, index) => ({ id: index + 1, code, at: 1 }));
        const gone = [1, 3, 4, 5, 6, 8, 9].map((id) => ({ id, at: 5, _ab_cdc_deleted_at }));
        await run(owner, 1, by("id"), rows, gone);
        // One that is back, one that comes too late.
        const location = await run(owner, 2, by("code"), [
          { id: 31, code: 13, at: 6 },
          { id: 1, code: 11, at: 2 },
        ]);
        const found = await place.sql(
          `SELECT id, CASE WHEN _ab_cdc_deleted_at IS NULL THEN 'there' ELSE 'gone' END, "at" FROM ${location} ORDER BY id`,
        );
        expect(found.map((row) => row.join(" "))).toEqual([
          "1 gone 5", // the newest of its code
          "2 there 1", // its code is the id of one that is gone
          "4 gone 5", // no code: nobody's
          "5 gone 5",
          "7 there 1", // one of its code is gone
          "9 gone 5", // of two that are gone the later one
          "10 there 1",
          "31 there 6",
        ]);
      });

      test("without a key it is refused in one sentence", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, { name, into: "append_dedup" });
        await expect(run(owner, 1, stream, [{ id: 1 }])).rejects.toMatchObject({
          code: "CONFIG_INVALID",
          details: { path: "primary_key" },
        });
      });
    });

    describe("who writes", () => {
      test("two owners write at once, each its own tables and fences", async () => {
        const [a, b] = [fresh(), fresh()];
        const [left, right] = [a, b].map(({ name }) => describeStream({ id: integer }, { name }));
        if (!left || !right) throw new Error("two streams");
        const [one, two] = await Promise.all([writer(a.owner, 9, left), writer(b.owner, 1, right)]);
        await Promise.all([one.start(left), two.start(right)]);
        for (let round = 1; round <= 5; round += 1) {
          await Promise.all([one.put(left, { id: round }), two.put(right, { id: round })]);
          await Promise.all([one.commit(left, { at: round }), two.commit(right, { at: round })]);
        }
        await Promise.all([one.complete(left), two.complete(right)]);
        await Promise.all([one.sink.close(), two.sink.close()]);
        for (const [writing, stream] of [
          [one, left],
          [two, right],
        ] as const)
          expect(await ids(writing.sink.location(descriptorOf(stream)))).toEqual([1, 2, 3, 4, 5]);
      });

      test("a conflict over a table names it", async () => {
        const { owner, name } = fresh();
        await run(owner, 1, describeStream({ id: integer }, { name }), [{ id: 1 }]);
        const theirs = describeStream({ id: integer }, { name: "x", table: `_svc_${name}` });
        await expect(writer(fresh().owner, 1, theirs)).rejects.toMatchObject({
          code: "TABLE_CONFLICT",
          details: { name: expect.stringContaining(`_svc_${name}`) },
        });
      });

      test("a table that somebody dropped is read anew", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name });
        const location = await run(owner, 1, stream, [{ id: 1 }]);
        await place.sql(`DROP TABLE ${location}`);
        const two = await writer(owner, 2, stream);
        expect(two.state(stream)).toBeUndefined();
        await two.sink.close();
        expect(await ids(await run(owner, 3, stream, [{ id: 2 }]))).toEqual([2]);
      });

      test("another name for the table begins a table anew and leaves the old one", async () => {
        const { owner, name } = fresh();
        const first = await run(owner, 1, describeStream({ id: integer }, { name }), [{ id: 1 }]);
        const renamed = describeStream({ id: integer }, { name, table: `_svc_other_${name}` });
        const second = await run(owner, 2, renamed, [{ id: 2 }]);
        expect([await ids(first), await ids(second)]).toEqual([[1], [2]]);
      });
    });

    describe("schema changes", () => {
      test("append, full_refresh: a value that does not fit widens its column, and nothing is lost", async () => {
        const { owner, name } = fresh();
        const properties = {
          id: integer,
          big: integer,
          at: { type: "string", format: "date-time" },
          day: { type: "string", format: "date" },
          ok: { type: "boolean" },
        };
        const stream = describeStream(properties, { name, mode: "full_refresh" });
        const fine = { id: 1, big: 1, at: "2024-01-01T00:00:00Z", day: "2024-01-01", ok: true };
        const wide = '{"id":2,"big":9223372036854775808,"at":"soon","day":"2024-02-30","ok":null}';
        const location = await run(owner, 1, stream, [fine, wide], [{ ...fine, id: 3 }]);
        expect(await run(owner, 2, stream, [fine, wide])).toBe(location);
        const rows = await select(location, ["id", "big", "at", "day"]);
        expect(rows.filter(([id]) => id === "2")[0]).toEqual([
          "2",
          "9223372036854775808",
          "soon",
          "2024-02-30",
        ]);
        expect(rows[0]?.slice(0, 2)).toEqual(["1", "1"]);
      });
    });

    describe("a column that gets another type", () => {
      /** Gives what was told, a column and its types each. */
      async function changesOf(
        owner: string,
        fence: number,
        stream: DestinationStream,
        line: string,
      ) {
        const changes: string[] = [];
        const sink = await place.write({
          owner,
          jobId: `job_${fence}`,
          fence,
          streams: [stream],
          onColumnChanged: ({ column, from, to }) =>
            changes.push(`${column}: ${from} → ${to}`.toLowerCase()),
        });
        await sink.status(descriptorOf(stream), "started");
        if (line !== "") await sink.write(descriptorOf(stream), Buffer.from(`${line}\n`), 1);
        await sink.checkpoint(descriptorOf(stream), { fence }, 1);
        await sink.status(descriptorOf(stream), "complete");
        await sink.close();
        return changes;
      }
      const properties = {
        id: integer,
        n: { type: "integer", format: "int32" },
        day: { type: "string", format: "date" },
      };
      const wide = '{"id":3,"n":3000000000,"day":"never"}';

      test("is told once, when a value has not fitted", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, { name });
        const fitting = '{"id":1,"n":5,"day":"2024-05-06"}';
        expect(await changesOf(owner, 1, stream, fitting)).toEqual([]);
        expect(await changesOf(owner, 2, stream, fitting)).toEqual([]);
        expect(await changesOf(owner, 3, stream, wide)).toEqual([
          expect.stringMatching(/^n: integer → bigint$/),
          expect.stringMatching(/^day: date → (varchar|text)$/),
        ]);
        expect(await changesOf(owner, 4, stream, wide)).toEqual([]);
        expect(await changesOf(owner, 5, stream, "")).toEqual([]);
      });

      test("is told of a table that replaces another, and of a new one by its schema", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, {
          name,
          mode: "full_refresh",
          into: "overwrite",
        });
        expect(await changesOf(owner, 1, stream, wide)).toHaveLength(2);
        expect(await changesOf(owner, 2, stream, wide)).toEqual([]);
        expect(await changesOf(owner, 3, stream, '{"id":1,"n":5,"day":"2024-05-06"}')).toEqual([
          expect.stringMatching(/^n: bigint → integer$/),
          expect.stringMatching(/^day: (varchar|text) → date$/),
        ]);
      });
    });

    describe("values", () => {
      const properties = {
        id: integer,
        wide: { type: "integer", airbyte_type: "big_integer" },
        rate: { type: "number" },
        text,
        data: { type: "object" },
      };

      test("a NUL character and half of a surrogate pair never stop a row", async () => {
        const { owner, name } = fresh();
        const lines = [
          '{"id":1,"text":"a\\u0000b","data":{"k\\u0000":"\\u0000"}}',
          '{"id":2,"text":"a\\ud800b"}',
          '{"id":3,"text":"\\\\ud800"}',
        ];
        const location = await run(owner, 1, describeStream(properties, { name }), lines);
        const rows = await select(location, ["id", "text"]);
        expect(["a\u0000b", "a\ufffdb"]).toContain(rows[0]?.[1]);
        expect(rows.slice(1)).toEqual([
          ["2", "a\ufffdb"],
          ["3", "\\ud800"],
        ]);
      });

      test("deep and large JSON comes through whole", async () => {
        const { owner, name } = fresh();
        const depth = 190;
        const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
        const large = "x".repeat(3 * 1024 * 1024);
        const location = await run(owner, 1, describeStream(properties, { name }), [
          `{"id":1,"data":${deep},"text":"${large}"}`,
        ]);
        const [row] = await select(location, ["data", "text"]);
        expect(JSON.parse(row?.[0] ?? "")).toEqual(JSON.parse(deep));
        expect(row?.[1]?.length).toBe(large.length);
      });

      test("only selected properties become columns, with the key and the cursor", async () => {
        const { owner, name } = fresh();
        const described = {
          name,
          into: "append_dedup",
          key: ["id"],
          cursor: "wide",
          fields: ["text"],
        } as const;
        const location = await run(owner, 1, describeStream(properties, described), [
          { id: 1, wide: 1, text: "x" },
        ]);
        expect(await select(location, ["id", "wide", "text"])).toEqual([["1", "1", "x"]]);
        await expect(select(location, ["rate"])).rejects.toThrow();
      });
    });

    describe("reading back", () => {
      const read = async (order: Partial<QueryCommand> & { sql: string }) => {
        const { columns, pages } = await place.query({
          maxRows: 1_000,
          timeoutMs: 20_000,
          ...order,
        });
        const rows: (readonly JsonValue[])[] = [];
        for await (const page of pages) rows.push(...page);
        return { columns: columns.map((column) => column.name), rows };
      };

      test("a SELECT gives its rows as JSON values: large integers and decimals as text", async () => {
        const sql =
          "SELECT 1 AS one, 9007199254740993 AS big, CAST(1.10 AS numeric(10,2)) AS price, 'x' AS word, true AS yes, NULL AS none";
        expect(await read({ sql })).toEqual({
          columns: ["one", "big", "price", "word", "yes", "none"],
          rows: [[1, "9007199254740993", "1.10", "x", true, null]],
        });
      });

      test("a SELECT may use everything that reads the tables", async () => {
        const { owner, name } = fresh();
        const location = await run(
          owner,
          1,
          describeStream({ id: integer, value: text }, { name }),
          [
            { id: 1, value: "a" },
            { id: 2, value: "b" },
          ],
        );
        const sql = `WITH t AS (SELECT * FROM ${location} WHERE id > 0) SELECT t.id, u.value FROM t JOIN ${location} u ON u.id = t.id ORDER BY 1;`;
        expect((await read({ sql })).rows).toEqual([
          [1, "a"],
          [2, "b"],
        ]);
      });
    });
  });
}
