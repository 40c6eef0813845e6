import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Session } from "../api.ts";
import type { PostgresContext } from "../spec.ts";
import { watchStandbys } from "./standby.ts";

/** A clock on which a sleep takes no time, and a server that says for whom the slot waits. */
function createWorld(standbysAt: (ms: number) => string | undefined) {
  let now = 0;
  const pieces: { readonly ms: number; readonly come: () => void }[] = [];
  const logged: unknown[][] = [];
  const asked: string[] = [];
  const clock = {
    now: () => now,
    async sleep(ms: number, signal?: AbortSignal) {
      await delay(0);
      if (signal?.aborted) throw new Error("cancelled");
      now += Math.max(0, ms);
      for (const piece of pieces) if (now >= piece.ms) piece.come();
    },
  };
  const query = async (text: string) => {
    asked.push(text);
    const standbys = standbysAt(now);
    return { rows: standbys === undefined ? [] : [{ standbys }] };
  };
  const ctx = { clock, log: { warn: (...args: unknown[]) => void logged.push(args) } };
  const session = { client: { query } };
  const watch = watchStandbys(
    ctx as unknown as PostgresContext,
    session as unknown as Session,
    "svc_shop",
  );
  /** A piece of the log that comes at that moment. */
  const pieceAt = (ms: number) =>
    new Promise<string>((resolve) => pieces.push({ ms, come: () => resolve("a piece") }));
  return { watch, logged, asked, pieceAt, now: () => now };
}

const never = new Promise<never>(() => {});

test("a slot that standby servers hold back is told once, and given up after minutes with their names", async () => {
  const world = createWorld(() => "replica_1, replica_2");
  await expect(world.watch.until(never)).rejects.toMatchObject({
    code: "PROVIDER_TIMEOUT",
    details: { phase: expect.stringMatching(/synchronized_standby_slots, replica_1, replica_2,/) },
  });
  expect(world.logged).toEqual([
    [
      expect.stringMatching(/Bring those of synchronized_standby_slots back/),
      { slot: "svc_shop", standbys: "replica_1, replica_2" },
    ],
  ]);
  expect(world.now()).toBeGreaterThanOrEqual(300_000);
  expect(world.asked[0]).toContain("slot_name = 'svc_shop'");
});

test("a slot that is quiet for another reason, or held back again and again, is waited for", async () => {
  const busy = createWorld(() => undefined);
  expect(await busy.watch.until(busy.pieceAt(1_000_000))).toBe("a piece");
  expect(busy.asked.length).toBeGreaterThan(16);
  expect(busy.logged).toEqual([]);

  const world = createWorld((ms) => (ms % 200_000 < 150_000 ? "replica_1" : undefined));
  expect(await world.watch.until(world.pieceAt(1_000_000))).toBe("a piece");
  expect(world.logged.length).toBeGreaterThan(1);
});

test("a slot that goes on is not asked about, and its failure is the caller's", async () => {
  const world = createWorld(() => "replica_1");
  for (let piece = 0; piece < 50; piece++) {
    expect(await world.watch.until(Promise.resolve(piece))).toBe(piece);
    world.watch.hasProgress();
  }
  await expect(world.watch.until(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
  expect([world.asked, world.logged]).toEqual([[], []]);
});
