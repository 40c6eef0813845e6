/**
 * The promise of a destination that compares keys: rows of which the source has no key are marked
 * or removed, and no others, whatever happens on the way.
 */
import fc from "fast-check";
import type { Clock, ComparedKeys } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DeleteMode, DestinationStream } from "../runtime/contract/destination.ts";
import { type DestinationPlace, describeStream } from "./destination-behaviour.ts";

type Row = { readonly [property: string]: unknown };

const text = { type: "string" };
const integer = { type: "integer" };
const orNull = { type: ["integer", "null"] };

/** @param open an empty place; its context has this clock */
export function describeDeletes(
  name: string,
  open: (clock: Clock) => Promise<DestinationPlace>,
  { runCount }: { readonly runCount: number },
) {
  describe(`${name}: deleted rows`, () => {
    let place: DestinationPlace;
    let nowMs = 1_700_000_000_000;
    let count = 0;
    beforeAll(async () => {
      place = await open({ now: () => nowMs, sleep: async () => {} });
    });
    afterAll(() => place?.close());

    const describeKeyed = (
      properties: Record<string, object>,
      key: readonly string[],
      detectDeletes: DeleteMode,
    ) =>
      describeStream(properties, {
        name: `gone${++count}`,
        into: "append_dedup",
        key,
        detectDeletes,
      });
    const things = (mode: DeleteMode) => describeKeyed({ id: integer, value: text }, ["id"], mode);
    const nameOf = ({ configured: { stream } }: DestinationStream) => ({ name: stream.name });
    const linesOf = (rows: readonly Row[]) =>
      Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

    /** Gives the name of the table. */
    async function write(stream: DestinationStream, fence: number, rows: readonly Row[]) {
      nowMs += 60_000;
      const owner = stream.table;
      const jobId = `job_${fence}`;
      const sink = await place.write({ owner, jobId, fence, streams: [stream] });
      await sink.status(nameOf(stream), "started");
      await sink.write(nameOf(stream), linesOf(rows), rows.length);
      await sink.checkpoint(nameOf(stream), { at: fence }, rows.length);
      await sink.status(nameOf(stream), "complete");
      await sink.close();
      return sink.location(nameOf(stream));
    }

    interface Comparing {
      readonly isConfirmed?: boolean;
      /** Default: it is complete. */
      readonly end?: "complete" | "incomplete" | "none";
      readonly jobId?: string;
    }

    async function compare(
      stream: DestinationStream,
      fence: number,
      keys: readonly Row[],
      { isConfirmed = false, end = "complete", jobId = `compare_${fence}` }: Comparing = {},
    ): Promise<ComparedKeys | undefined> {
      let compared: ComparedKeys | undefined;
      const sink = await place.compareKeys({
        owner: stream.table,
        jobId,
        fence,
        streams: [stream],
        isConfirmed,
        onCompared: (one) => (compared = one),
      });
      try {
        await sink.open([]);
        await sink.status(nameOf(stream), "started");
        await sink.write(nameOf(stream), linesOf(keys), keys.length);
        await sink.checkpoint(nameOf(stream), {}, keys.length);
        if (end !== "none") await sink.status(nameOf(stream), end);
      } finally {
        await sink.close();
      }
      return compared;
    }

    const idsOf = async (location: string, condition = "1 = 1") =>
      (await place.sql(`SELECT id FROM ${location} WHERE ${condition} ORDER BY id`)).map(([id]) =>
        Number(id),
      );
    const rowsOf = (...ids: number[]) => ids.map((id) => ({ id, value: `v${id}` }));
    const keysOf = (...ids: number[]) => ids.map((id) => ({ id }));

    test("any changes between runs leave what a model of the source has, hard and soft", async () => {
      const key = fc.record({ org: fc.constantFrom("a", "B", "é"), id: fc.nat({ max: 3 }) });
      const steps = fc.array(
        fc.record({
          changed: fc.uniqueArray(key, { selector: (one) => JSON.stringify(one), maxLength: 6 }),
          deleted: fc.array(key, { maxLength: 4 }),
          end: fc.constantFrom("complete" as const, "incomplete" as const, "none" as const),
        }),
        { minLength: 1, maxLength: 4 },
      );
      const property = fc.asyncProperty(
        steps,
        fc.constantFrom<DeleteMode>("hard", "soft"),
        async (steps, mode) => {
          const stream = describeKeyed({ org: text, id: integer, n: integer }, ["org", "id"], mode);
          const label = ({ org, id }: { readonly org: string; readonly id: number }) =>
            `${org}/${id}`;
          const source = new Map<string, Row & { readonly org: string; readonly id: number }>();
          const present = new Map<string, string>();
          const marked = new Map<string, string>();
          let n = 0;
          for (const [index, { changed, deleted, end }] of steps.entries()) {
            for (const one of deleted) source.delete(label(one));
            for (const one of changed) {
              const row = { ...one, n: ++n };
              source.set(label(one), row);
              present.set(label(one), String(n));
              marked.delete(label(one));
            }
            const rows = changed.map((one) => source.get(label(one)) as Row);
            const location = await write(stream, index + 1, rows);
            const keys = [...source.values()].map(({ org, id }) => ({ org, id }));
            await compare(stream, index + 1, keys, { isConfirmed: true, end });
            if (end === "complete") {
              for (const one of marked.keys()) if (source.has(one)) marked.delete(one);
              for (const [one, value] of present)
                if (!source.has(one)) {
                  present.delete(one);
                  if (mode === "soft") marked.set(one, value);
                }
              for (const [one, value] of marked) if (source.has(one)) present.set(one, value);
            }
            const isMarked = `_svc_deleted_at IS NOT NULL`;
            const hasMarks =
              mode === "soft" && steps.slice(0, index + 1).some((step) => step.end === "complete");
            const found = async (condition: string) =>
              (await place.sql(`SELECT org, id, n FROM ${location} WHERE ${condition}`))
                .map(([org, id, value]) => `${org}/${id}=${value}`)
                .sort();
            const shown = (of: Map<string, string>) =>
              [...of].map(([one, value]) => `${one}=${value}`).sort();
            expect(await found(hasMarks ? `NOT (${isMarked})` : "1 = 1")).toEqual(shown(present));
            if (hasMarks) expect(await found(isMarked)).toEqual(shown(marked));
          }
        },
      );
      await fc.assert(property, { numRuns: runCount });
    });

    test("soft: the row says when it was noticed, keeps that, and loses it when it comes back", async () => {
      const stream = things("soft");
      const table = await write(stream, 1, rowsOf(1, 2, 3));
      expect(await compare(stream, 1, keysOf(1, 2, 3))).toMatchObject({ deletedCount: 0 });
      expect(await compare(stream, 2, keysOf(1, 3))).toMatchObject({ deletedCount: 1 });
      const marks = () =>
        place.sql(
          `SELECT id, CAST(_svc_deleted_at AS VARCHAR) FROM ${table} WHERE _svc_deleted_at IS NOT NULL`,
        );
      const first = await marks();
      expect(first).toEqual([["2", expect.stringMatching(/^2023-11-14 /)]]);
      nowMs += 3_600_000;
      expect(await compare(stream, 3, keysOf(1, 3))).toMatchObject({ deletedCount: 0 });
      expect(await marks()).toEqual(first);
      // It comes back without having changed: no read of what is new brings it.
      expect(await compare(stream, 4, keysOf(1, 2, 3))).toMatchObject({ returnedCount: 1 });
      expect(await marks()).toEqual([]);
      await compare(stream, 5, keysOf(1, 3));
      await write(stream, 6, [{ id: 2, value: "back" }]);
      expect(await marks()).toEqual([]);
    });

    test("nothing is deleted by a comparison that is cut off, cancelled or fenced off", async () => {
      const stream = things("hard");
      const table = await write(stream, 1, rowsOf(1, 2, 3));
      expect(await compare(stream, 1, keysOf(1), { end: "incomplete" })).toBeUndefined();
      expect(await compare(stream, 1, keysOf(1), { end: "none" })).toBeUndefined();
      await write(stream, 5, []);
      await expect(compare(stream, 4, keysOf(1))).rejects.toMatchObject({ code: "OUTPUT_FENCED" });
      expect(await idsOf(table)).toEqual([1, 2, 3]);
    });

    test("a higher fence that comes while keys are read keeps them from counting", async () => {
      const stream = things("hard");
      const table = await write(stream, 1, rowsOf(1, 2));
      const sink = await place.compareKeys({
        owner: stream.table,
        jobId: "compare",
        fence: 1,
        streams: [stream],
        onCompared: () => {},
      });
      await sink.status(nameOf(stream), "started");
      await sink.write(nameOf(stream), linesOf(keysOf(1)), 1);
      await write(stream, 2, rowsOf(3));
      await expect(sink.status(nameOf(stream), "complete")).rejects.toMatchObject({
        code: "OUTPUT_FENCED",
      });
      await sink.close();
      expect(await idsOf(table)).toEqual([1, 2, 3]);
    });

    test("rows that the same job has written stay, also when the list of keys lacks them", async () => {
      const stream = things("hard");
      const table = await write(stream, 1, rowsOf(1, 2));
      await compare(stream, 1, keysOf(1), { jobId: "job_1" });
      expect(await idsOf(table)).toEqual([1, 2]);
      await compare(stream, 2, keysOf(1), { jobId: "job_2" });
      expect(await idsOf(table)).toEqual([1]);
    });

    test("less data does not look like deletion: none or under half of the rows needs a word", async () => {
      const stream = things("hard");
      const ids = Array.from({ length: 30 }, (_, index) => index);
      const table = await write(stream, 1, rowsOf(...ids));
      expect(await compare(stream, 2, [])).toMatchObject({
        deletedCount: 0,
        refusal: "the source shows no row any more, and the table has 30",
      });
      expect(await compare(stream, 2, keysOf(...ids.slice(0, 14)))).toMatchObject({
        deletedCount: 0,
        refusal: "16 of 30 rows are gone at the source, more than half",
      });
      expect(await idsOf(table)).toEqual(ids);
      expect(await compare(stream, 2, keysOf(...ids.slice(0, 15)))).toEqual({
        stream: nameOf(stream),
        deletedCount: 15,
        returnedCount: 0,
      });
      const confirmed = { isConfirmed: true };
      expect(await compare(stream, 2, [], confirmed)).toMatchObject({ deletedCount: 15 });
      expect(await idsOf(table)).toEqual([]);
    });

    test("a row without a key stays, and a key that could not be read stops it all", async () => {
      const stream = describeKeyed({ id: orNull, part: integer }, ["id", "part"], "hard");
      const table = await write(stream, 1, [
        { id: 1, part: 1 },
        { id: 2, part: 1 },
        { id: null, part: 7 },
      ]);
      const unreadable = {
        id: null,
        part: 1,
        _svc_meta: { changes: [{ field: "id", change: "NULLED", reason: "SOURCE_FIELD_SIZE" }] },
      };
      expect(await compare(stream, 2, [{ id: 1, part: 1 }, unreadable])).toMatchObject({
        deletedCount: 0,
        refusal: "some keys of the source do not fit their schema",
      });
      expect(await compare(stream, 2, [{ id: 1, part: 1 }])).toMatchObject({ deletedCount: 1 });
      expect((await place.sql(`SELECT id FROM ${table} ORDER BY id`)).map(([id]) => id)).toEqual([
        "1",
        null,
      ]);
    });

    test("keys are compared by value, also when a later one is too wide for the table's column", async () => {
      const stream = describeKeyed(
        {
          id: integer,
          at: { type: "string", format: "date-time" },
          day: { type: "string", format: "date" },
        },
        ["id", "at", "day"],
        "hard",
      );
      const row = { id: 7, at: "2024-05-06T07:08:09.5Z", day: "2024-05-06" };
      const table = await write(stream, 1, [row, { ...row, id: 8 }]);
      const wide = '{"id":98765432109876543210,"at":"2024-05-06T07:08:09.5Z","day":"2024-05-06"}';
      const sink = await place.compareKeys({
        owner: stream.table,
        jobId: "compare",
        fence: 2,
        streams: [stream],
        onCompared: (compared) => expect(compared).toMatchObject({ deletedCount: 1 }),
      });
      await sink.status(nameOf(stream), "started");
      const lines = `${JSON.stringify({ ...row, at: "2024-05-06T09:08:09.500+02:00" })}\n${wide}\n`;
      await sink.write(nameOf(stream), Buffer.from(lines), 2);
      await sink.write(nameOf(stream), linesOf([{ ...row, id: 9, day: "tomorrow" }]), 1);
      await sink.status(nameOf(stream), "complete");
      await sink.close();
      expect(await idsOf(table)).toEqual([7]);
    });

    test("before the first row there is nothing to compare", async () => {
      const stream = things("soft");
      expect(await compare(stream, 1, keysOf(1))).toEqual({
        stream: nameOf(stream),
        deletedCount: 0,
        returnedCount: 0,
      });
      expect(await idsOf(await write(stream, 2, rowsOf(1)))).toEqual([1]);
    });
  });
}
