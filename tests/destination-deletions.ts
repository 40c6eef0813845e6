/** How long a destination remembers the deletions that a source reported: docs/decisions/0088. */
import type { Clock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DestinationPlace, describeStream } from "./destination-behaviour.ts";

const dayMs = 86_400_000;
const integer = { type: "integer" };
const properties = { id: integer, at: integer, _ab_cdc_deleted_at: { type: ["string", "null"] } };

interface Row {
  readonly id: number;
  readonly at: number;
  readonly isDeleted?: boolean;
}

interface Remembering<Place> {
  /** How many deletions are remembered of the owner's one stream. */
  count(place: Place, owner: string): Promise<number>;
  /** Makes of what is remembered what a version without moments had left. */
  forgetMoments(place: Place, owner: string): Promise<void>;
}

/** @param open an empty place; its context has this clock */
export function describeDeletions<Place extends DestinationPlace>(
  name: string,
  open: (clock: Clock) => Promise<Place>,
  { count, forgetMoments }: Remembering<Place>,
) {
  describe(`deletions that ${name} remembers`, () => {
    let place: Place;
    let nowMs = Date.parse("2026-01-01T00:00:00Z");
    let fence = 0;
    beforeAll(async () => {
      place = await open({ now: () => nowMs, sleep: async () => {} });
    });
    afterAll(() => place?.close());

    /** One run of these rows. Gives the ids that the table has then. */
    async function run(owner: string, ...rows: readonly Row[]): Promise<(string | null)[]> {
      fence += 1;
      const described = { name: owner, into: "append_dedup", key: ["id"], cursor: "at" } as const;
      const streams = [describeStream(properties, described)];
      const sink = await place.write({ owner, jobId: `job_${fence}`, fence, streams });
      await sink.status({ name: owner }, "started");
      const lines = rows.map(({ id, at, isDeleted = false }) =>
        JSON.stringify({ id, at, _ab_cdc_deleted_at: isDeleted ? "2026-01-01" : null }),
      );
      await sink.write({ name: owner }, Buffer.from(`${lines.join("\n")}\n`), rows.length);
      await sink.checkpoint({ name: owner }, { fence }, rows.length);
      await sink.status({ name: owner }, "complete");
      await sink.close();
      const found = await place.sql(`SELECT id FROM ${sink.location({ name: owner })} ORDER BY id`);
      return found.map(([id = null]) => id);
    }

    test("keep an older row out for 90 days, and are forgotten then", async () => {
      const owner = `${name}_time`;
      await run(owner, { id: 1, at: 5 }, { id: 2, at: 5 });
      expect(await run(owner, { id: 1, at: 6, isDeleted: true })).toEqual(["2"]);
      nowMs += 90 * dayMs;
      expect(await run(owner, { id: 1, at: 5 })).toEqual(["2"]);
      expect(await count(place, owner)).toBe(1);
      nowMs += 1;
      // What the run itself brings is still compared.
      expect(await run(owner, { id: 1, at: 5 })).toEqual(["2"]);
      expect(await count(place, owner)).toBe(0);
    });

    test("do not become more and more", async () => {
      const owner = `${name}_growth`;
      const counts: number[] = [];
      for (let day = 0; day < 400; day += 20) {
        await run(owner, { id: day, at: day, isDeleted: true }, { id: 1, at: day });
        counts.push(await count(place, owner));
        nowMs += 20 * dayMs;
      }
      expect(Math.max(...counts)).toBe(5);
    });

    test("of a time when no moment was noted count from now on", async () => {
      const owner = `${name}_earlier`;
      await run(owner, { id: 1, at: 6, isDeleted: true }, { id: 2, at: 5 });
      await forgetMoments(place, owner);
      nowMs += 200 * dayMs;
      expect(await run(owner, { id: 1, at: 5 })).toEqual(["2"]);
      nowMs += 90 * dayMs;
      expect(await run(owner, { id: 1, at: 5 })).toEqual(["2"]);
      expect(await count(place, owner)).toBe(1);
      nowMs += 1;
      await run(owner, { id: 3, at: 5 });
      expect(await count(place, owner)).toBe(0);
    });
  });
}
