/**
 * What every destination promises. The suite drives a sink as a read does (open, started, write,
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
import type {
  DestinationSink,
  DestinationStream,
  DestinationSyncMode,
  QueryOrder,
  QueryResult,
  WriteOrder,
} from "../runtime/contract/destination.ts";

/**
 * An empty place of one destination, for one file of tests. Calls of one test and the next come one
 * after the other.
 */
export interface DestinationPlace {
  write(order: WriteOrder): Promise<DestinationSink>;
  check(): Promise<void>;
  query(order: QueryOrder): Promise<QueryResult>;
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
  const { key = [], cursor, fields, isResumable = false, isRestart } = described;
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
      readonly sink: DestinationSink;
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
      const order: WriteOrder = {
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

      test("every row has an id of its own, its time, its job, and what was changed in it", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name });
        const changes = '{"changes":[{"field":"x","change":"NULLED"}]}';
        const location = await run(owner, 7, stream, [
          { id: 1 },
          `{"id":2,"_svc_meta":${changes}}`,
        ]);
        const rows = await select(
          location,
          ["_svc_id", "_svc_extracted_at", "_svc_job_id", "_svc_meta", "id"],
          ["id"],
        );
        expect(rows.map(([, at, job]) => [at?.slice(0, 10), job])).toEqual(
          Array(2).fill(["2023-11-14", "job_7"]),
        );
        for (const [id] of rows)
          expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
        expect(new Set(rows.map(([id]) => id)).size).toBe(2);
        expect([rows[0]?.[3], JSON.parse(rows[1]?.[3] ?? "")]).toEqual([null, JSON.parse(changes)]);
      });

      test("after a crash the next attempt goes on from the last commit: nothing is lost, nothing is doubled", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name });
        const one = await writer(owner, 1, stream);
        await one.start(stream);
        await one.put(stream, { id: 1 });
        await one.commit(stream, { at: 1 });
        await one.put(stream, { id: 2 });
        const two = await writer(owner, 2, stream);
        expect(two.state(stream)).toEqual({ at: 1 });
        await two.start(stream);
        await two.put(stream, { id: 2 });
        await two.commit(stream, { at: 2 });
        await two.complete(stream);
        await two.sink.close();
        expect(await ids(two.sink.location(descriptorOf(stream)))).toEqual([1, 2]);
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

    describe("overwrite", () => {
      test("people see the old rows until the new ones are all there", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(
          { id: integer },
          { name, mode: "full_refresh", into: "overwrite" },
        );
        const location = await run(owner, 1, stream, [{ id: 1 }, { id: 2 }]);
        const two = await writer(owner, 2, stream);
        await two.start(stream);
        await two.put(stream, { id: 3 });
        await two.commit(stream, {});
        expect(await ids(location)).toEqual([1, 2]);
        await two.put(stream, { id: 4 });
        expect(await ids(location)).toEqual([1, 2]);
        await two.complete(stream);
        expect(await ids(location)).toEqual([3, 4]);
        await two.sink.close();
        expect(two.sink.location(descriptorOf(stream))).toBe(location);
      });

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

      test("a restart begins anew whatever was saved, and the old rows stay until it is complete", async () => {
        const { owner, name } = fresh();
        for (const [index, into] of (["append", "append_dedup"] as const).entries()) {
          const described = { name: `${name}_${into}`, into, key: ["id"] } as const;
          const stream = describeStream({ id: integer }, described);
          const fence = index * 10;
          const location = await run(owner, fence + 1, stream, [{ id: 1 }, { id: 2 }]);
          const again = describeStream({ id: integer }, { ...described, isRestart: true });
          const two = await writer(owner, fence + 2, again);
          expect(two.state(again)).toBeUndefined();
          await two.start(again);
          await two.put(again, { id: 2 });
          await two.commit(again, { at: 2 });
          expect(await ids(location)).toEqual([1, 2]);
          // Killed here, and gone on without the order to restart.
          const three = await writer(owner, fence + 3, stream);
          expect(three.state(stream)).toEqual({ at: 2 });
          await three.start(stream);
          await three.put(stream, { id: 3 });
          await three.commit(stream, { at: 3 });
          expect(await ids(location)).toEqual([1, 2]);
          await three.complete(stream);
          await three.sink.close();
          expect(await ids(location)).toEqual([2, 3]);
        }
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
      const dedup = { into: "append_dedup", key: ["org", "id"], cursor: "at" } as const;

      test("one row per key remains, the one with the newest cursor, whatever the order of arrival", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, { name, ...dedup });
        const row = (id: number, at: number, value: string) => ({ org: "a", id, at, value });
        const location = await run(
          owner,
          1,
          stream,
          [row(1, 5, "new"), row(1, 3, "old"), row(2, 1, "first"), row(2, 1, "same time, later")],
          [row(1, 4, "late"), row(3, 1, "x"), { org: "b", id: 1, at: 0, value: "other org" }],
        );
        await run(owner, 2, stream, [row(3, 2, "newest"), row(1, 5, "same time, later")]);
        expect(await select(location, ["org", "id", "value"])).toEqual([
          ["a", "1", "same time, later"],
          ["a", "2", "same time, later"],
          ["a", "3", "newest"],
          ["b", "1", "other org"],
        ]);
      });

      test("a row that is told to be deleted is gone, and an older one that comes later does not bring it back", async () => {
        const { owner, name } = fresh();
        const stream = describeStream(properties, { name, ...dedup });
        const row = (id: number, at: number, deleted?: string) => ({
          org: "a",
          id,
          at,
          _ab_cdc_deleted_at: deleted ?? null,
        });
        const location = await run(owner, 1, stream, [row(1, 1), row(2, 1), row(3, 1)]);
        await run(owner, 2, stream, [
          row(1, 5, "2024-01-01T00:00:00Z"),
          row(9, 5, "2024-01-01T00:00:00Z"),
        ]);
        expect(await ids(location)).toEqual([2, 3]);
        await run(owner, 3, stream, [row(1, 4), row(9, 4), row(2, 2)]);
        expect(await ids(location)).toEqual([2, 3]);
        await run(owner, 4, stream, [row(1, 6)]);
        expect(await ids(location)).toEqual([1, 2, 3]);
      });

      test(
        "the table is what a model of it says, however rows are cut into pages and runs",
        { timeout: 120_000 },
        async () => {
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
          await fc.assert(property, { numRuns: 25 });
        },
      );

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
      test("a later attempt fences off an earlier one: it commits nothing any more", async () => {
        const { owner, name } = fresh();
        const described = [
          { name },
          { name: `${name}_b`, mode: "full_refresh", into: "overwrite" },
        ] as const;
        const [stream, other] = described.map((one) => describeStream({ id: integer }, one));
        if (!stream || !other) throw new Error("two streams");
        const one = await writer(owner, 1, stream, other);
        await one.start(stream);
        await one.put(stream, { id: 1 });
        await one.commit(stream, { at: 1 });
        const two = await writer(owner, 2, stream, other);
        await one.put(stream, { id: 2 }).catch(() => undefined);
        await expect(one.commit(stream, { at: 2 })).rejects.toMatchObject({
          code: "OUTPUT_FENCED",
        });
        await expect(one.complete(stream)).rejects.toMatchObject({ code: "OUTPUT_FENCED" });
        await expect(
          one.start(other).then(async () => {
            await one.put(other, { id: 9 });
            await one.complete(other);
          }),
        ).rejects.toMatchObject({ code: "OUTPUT_FENCED" });
        await one.sink.close().catch(() => undefined);
        expect(two.state(stream)).toEqual({ at: 1 });
        expect(await ids(two.sink.location(descriptorOf(stream)))).toEqual([1]);
        expect(two.sink.location(descriptorOf(other))).toBe("");
        await expect(writer(owner, 1, stream)).rejects.toMatchObject({ code: "OUTPUT_FENCED" });
        await two.sink.close();
      });

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

      test("a table that is somebody's own, or of another owner, is named and never touched", async () => {
        const { owner, name } = fresh();
        const other = fresh();
        const mine = await run(owner, 1, describeStream({ id: integer }, { name }), [{ id: 1 }]);
        const theirs = describeStream({ id: integer }, { name: "x", table: `_svc_${name}` });
        const conflict = {
          code: "TABLE_CONFLICT",
          details: { name: expect.stringContaining(`_svc_${name}`) },
        };
        await expect(writer(other.owner, 1, theirs)).rejects.toMatchObject(conflict);
        expect(await ids(mine)).toEqual([1]);
        const table = mine.replace(`_svc_${name}`, `_svc_own_${name}`);
        await place.sql(`CREATE TABLE ${table} (answer integer)`);
        await place.sql(`INSERT INTO ${table} VALUES (42)`);
        const wanting = describeStream({ id: integer }, { name, table: `_svc_own_${name}` });
        await expect(writer(other.owner, 1, wanting)).rejects.toMatchObject({
          code: "TABLE_CONFLICT",
        });
        expect(await select(table, ["answer"])).toEqual([["42"]]);
        await place.sql(`DROP TABLE ${table}`);
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

    describe("names", () => {
      const hostile = [
        "ID",
        "id",
        "",
        "select",
        "user",
        "_svc_id",
        "_svc_meta",
        "_SVC_JOB_ID",
        "quote\"'d",
        "a/b~c",
        "a.b",
        "ünï",
        "😀",
        "a\u0000b",
        "\ud800",
        "a b\n;--",
        "x".repeat(10_000),
        `${"x".repeat(9_999)}y`,
        "ctid",
        "rowid",
        "__proto__",
        "constructor",
        "id_c4ca4238",
        "$1",
        "%s",
        "\\",
      ];

      test("properties of any name each have a column of their own", async () => {
        const { owner, name } = fresh();
        const lineOf = (names: readonly string[], run: number) =>
          `{${names.map((property) => `${JSON.stringify(property)}:${JSON.stringify(`${run}:${hostile.indexOf(property)}`)}`).join(",")}}`;
        const schemaOf = (names: readonly string[]) =>
          Object.fromEntries(names.map((property) => [property, text]));
        const location = await run(owner, 1, describeStream(schemaOf(hostile), { name }), [
          lineOf(hostile, 1),
        ]);
        // In another order, which must not move a value to another column.
        const turned = hostile.toReversed();
        await run(owner, 2, describeStream(schemaOf(turned), { name }), [lineOf(turned, 2)]);
        const rows = await place.sql(`SELECT * FROM ${location}`);
        const values = rows.map((row) =>
          row.filter((value) => /^\d:\d+$/.test(value ?? "")).sort(),
        );
        const valuesOf = (run: number) => hostile.map((_, index) => `${run}:${index}`).sort();
        expect(values.sort()).toEqual([valuesOf(1), valuesOf(2)]);
        const [one = [], two = []] = rows;
        expect(
          one.map((value) => value?.slice(1)).filter((value) => value?.startsWith(":")),
        ).toEqual(two.map((value) => value?.slice(1)).filter((value) => value?.startsWith(":")));
      });

      test("streams and tables of any name each have a table of their own, and keep it", async () => {
        const { owner } = fresh();
        const names = [
          "Users",
          "users",
          "USERS",
          'a"; DROP TABLE users; --',
          "sel ect",
          "ünï😀",
          "../../etc/x",
          "t".repeat(10_000),
          `${"t".repeat(9_999)}u`,
          "new_users",
          "a\u0000b",
          "'",
          "",
        ].map((one) => `h${count}_${one}`);
        const streams = names.map((one) =>
          describeStream({ id: integer }, { name: one, table: `_svc_${one}` }),
        );
        const one = await writer(owner, 1, ...streams);
        for (const [index, stream] of streams.entries()) {
          await one.start(stream);
          await one.put(stream, { id: index });
          await one.commit(stream, { at: index });
          await one.complete(stream);
        }
        await one.sink.close();
        const locations = streams.map((stream) => one.sink.location(descriptorOf(stream)));
        expect(new Set(locations.map((location) => location.toLowerCase())).size).toBe(
          names.length,
        );
        for (const [index, location] of locations.entries())
          expect(await ids(location)).toEqual([index]);
        const two = await writer(owner, 2, ...streams.toReversed());
        expect(streams.map((stream) => two.sink.location(descriptorOf(stream)))).toEqual(locations);
        await two.sink.close();
      });

      test("a schema is made when it is not there, and groups tables", async () => {
        const { owner, name } = fresh();
        const stream = describeStream({ id: integer }, { name, schema: `sales "${name}"` });
        const other = describeStream(
          { id: integer },
          { name, namespace: "other", schema: `sales ${name} 2` },
        );
        const first = await run(owner, 1, stream, [{ id: 1 }]);
        const second = await run(owner, 2, other, [{ id: 2 }]);
        expect([await ids(first), await ids(second)]).toEqual([[1], [2]]);
      });
    });

    describe("schema changes", () => {
      test("a new property becomes a column, one that went stays with nulls", async () => {
        const { owner, name } = fresh();
        const location = await run(owner, 1, describeStream({ id: integer, old: text }, { name }), [
          { id: 1, old: "x" },
        ]);
        await run(owner, 2, describeStream({ id: integer, more: { type: "boolean" } }, { name }), [
          { id: 2, more: true },
        ]);
        await run(owner, 3, describeStream({ id: integer, old: text }, { name }), [
          { id: 3, old: "y" },
        ]);
        expect(await select(location, ["id", "old", "more"], ["id"])).toEqual([
          ["1", "x", null],
          ["2", null, "true"],
          ["3", "y", null],
        ]);
      });

      test.each([
        ["append", "incremental"],
        ["append_dedup", "incremental"],
        ["append", "full_refresh"],
        ["overwrite", "full_refresh"],
      ] as const)("%s, %s: a value that does not fit widens its column, and nothing is lost", async (into, mode) => {
        const { owner, name } = fresh();
        const properties = {
          id: integer,
          big: integer,
          at: { type: "string", format: "date-time" },
          day: { type: "string", format: "date" },
          ok: { type: "boolean" },
        };
        const stream = describeStream(properties, { name, into, mode, key: ["id"] });
        const fine = { id: 1, big: 1, at: "2024-01-01T00:00:00Z", day: "2024-01-01", ok: true };
        const wide = '{"id":2,"big":9223372036854775808,"at":"soon","day":"2024-02-30","ok":null}';
        const location = await run(owner, 1, stream, [fine, wide], [{ ...fine, id: 3 }]);
        const later =
          mode === "full_refresh" ? await run(owner, 2, stream, [fine, wide]) : location;
        expect(later).toBe(location);
        const rows = await select(location, ["id", "big", "at", "day"]);
        expect(rows.filter(([id]) => id === "2")[0]).toEqual([
          "2",
          "9223372036854775808",
          "soon",
          "2024-02-30",
        ]);
        expect(rows[0]?.slice(0, 2)).toEqual(["1", "1"]);
      });

      test("a property whose type changed holds the values of both", async () => {
        const { owner, name } = fresh();
        const columns = ["id", "v"];
        const changed = (type: object, into: DestinationSyncMode = "append") =>
          describeStream({ id: integer, v: type }, { name, into, key: ["id"] });
        const location = await run(owner, 1, changed(integer), [{ id: 1, v: 7 }]);
        await run(owner, 2, changed({ type: "integer", airbyte_type: "big_integer" }), [
          '{"id":2,"v":123456789012345678901234567890}',
        ]);
        await run(owner, 3, changed(text), [{ id: 3, v: "seven" }]);
        await run(owner, 4, changed(integer), [{ id: 4, v: 8 }]);
        await run(owner, 5, changed({ type: "object" }), [{ id: 5, v: { a: 1 } }]);
        const rows = await select(location, columns, ["id"]);
        expect(rows.slice(0, 4)).toEqual([
          ["1", "7"],
          ["2", "123456789012345678901234567890"],
          ["3", "seven"],
          ["4", "8"],
        ]);
        expect(JSON.parse(rows[4]?.[1] ?? "")).toEqual({ a: 1 });
      });
    });

    describe("values", () => {
      const properties = {
        id: integer,
        wide: { type: "integer", airbyte_type: "big_integer" },
        price: { type: "number", airbyte_type: "big_number", precision: 38, scale: 10 },
        free: { type: "number", airbyte_type: "big_number" },
        rate: { type: "number" },
        at: { type: "string", format: "date-time" },
        local: { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
        day: { type: "string", format: "date" },
        text,
        ok: { type: "boolean" },
        data: { type: "object" },
        list: { type: "array" },
      };

      test("keep their worth", async () => {
        const { owner, name } = fresh();
        const line =
          '{"id":9223372036854775807,"wide":123456789012345678901234567890,"price":1234567890123456.1234567891,"free":0.1000000000000000000001,"rate":0.1,' +
          '"at":"2024-01-01T02:00:00.123456+02:00","local":"2024-01-01T02:00:00.5","day":"0044-03-15","text":"\\" \\\\ \\n\\t ü 😀 \\ud83d\\ude00","ok":false,' +
          '"data":{"a":[1,{"b":null,"c":"é\\u2028"}],"e":{}},"list":[1.5,"2",null]}';
        const location = await run(owner, 1, describeStream(properties, { name }), [
          line,
          { id: -1, text: "" },
          { id: 0 },
        ]);
        const [minus, zero, row] = (await select(location, Object.keys(properties))).sort(
          ([a], [b]) => Number(a) - Number(b),
        );
        expect(row?.slice(0, 10)).toEqual([
          "9223372036854775807",
          "123456789012345678901234567890",
          "1234567890123456.1234567891",
          "0.1000000000000000000001",
          "0.1",
          expect.stringMatching(/^2024-01-01 00:00:00\.123456\+00/),
          "2024-01-01 02:00:00.5",
          "0044-03-15",
          '" \\ \n\t ü 😀 😀',
          "false",
        ]);
        expect(row?.slice(10).map((json) => JSON.parse(json ?? ""))).toEqual([
          { a: [1, { b: null, c: "é\u2028" }], e: {} },
          [1.5, "2", null],
        ]);
        expect(minus?.[8]).toBe("");
        expect(zero?.slice(1)).toEqual(Array(11).fill(null));
      });

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
      const read = async (order: Partial<QueryOrder> & { sql: string }) => {
        const { columns, pages } = await place.query({
          maxRows: 1_000,
          timeoutMs: 20_000,
          ...order,
        });
        const rows: (readonly JsonValue[])[] = [];
        for await (const page of pages) rows.push(...page);
        return { columns: columns.map((column) => column.name), rows };
      };

      test("check writes, reads and leaves nothing behind", async () => {
        const tables = "SELECT count(*) FROM information_schema.tables";
        const before = await place.sql(tables);
        await place.check();
        expect(await place.sql(tables)).toEqual(before);
      });

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

      test.each([
        ["nothing", " "],
        ["two statements", "SELECT 1; SELECT 2"],
        ["two statements, one hidden", "SELECT 1; DROP TABLE _svc_x; --"],
        ["CREATE", "CREATE TABLE q (a integer)"],
        ["DELETE", "DELETE FROM _svc.state"],
        ["WITH and DELETE", "WITH d AS (DELETE FROM _svc.state RETURNING *) SELECT * FROM d"],
        ["COPY", "COPY (SELECT 1) TO '/tmp/x'"],
        ["SET", "SET search_path = x"],
        ["BEGIN", "BEGIN"],
        ["EXPLAIN", "EXPLAIN ANALYZE SELECT 1"],
      ])("%s is refused", async (_, sql) => {
        await expect(read({ sql })).rejects.toMatchObject({ code: "QUERY_REFUSED" });
      });

      test.each([
        ["a table that is not there", "SELECT * FROM nowhere_at_all"],
        ["a column that is not there", "SELECT no_such_column FROM _svc.state"],
        ["words that are no SQL", "SELEC 1"],
        ["a value that cannot be read", "SELECT CAST('secret-value' AS integer)"],
      ])("%s is told in our own words", async (_, sql) => {
        const failing = read({ sql });
        await expect(failing).rejects.toMatchObject({
          code: expect.stringMatching(/^QUERY_(FAILED|REFUSED)$/),
        });
        await expect(failing).rejects.not.toMatchObject({
          message: expect.stringContaining("secret-value"),
        });
      });
    });
  });
}
