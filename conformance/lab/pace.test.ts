/** Time in these tests goes by only where a run says so: nothing here takes seconds. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import notebook from "../../fixtures/reference/program/index.ts";
import { tryRule } from "../certify/certify.ts";
import { loadRules } from "../certify/load-rules.ts";
import { loadRecordings } from "../fixtures/load.ts";
import { createProgramTarget } from "../target/program.ts";
import { defaultSettings } from "../target/settings.ts";
import { openLab } from "./open-lab.ts";
import { createPace, type Timers } from "./pace.ts";

interface Clock extends Timers {
  /** So much time goes by, and who waits for it goes on. */
  pass(ms: number): Promise<void>;
}

function createClock(): Clock {
  let nowMs = 0;
  const waiting = new Map<object, { readonly atMs: number; readonly call: () => void }>();
  return {
    now: () => nowMs,
    after(ms, call) {
      const key = {};
      waiting.set(key, { atMs: nowMs + ms, call });
      return () => void waiting.delete(key);
    },
    async pass(ms) {
      const endMs = nowMs + ms;
      for (;;) {
        await settle();
        const next = [...waiting].sort(([, a], [, b]) => a.atMs - b.atMs)[0];
        if (!next || next[1].atMs > endMs) break;
        waiting.delete(next[0]);
        nowMs = next[1].atMs;
        next[1].call();
      }
      nowMs = Math.max(nowMs, endMs);
    },
  };
}

/** Everything that waits for no time has been done. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

const never = new Promise<never>(() => undefined);

/** An image whose `spec` took so long when it was measured. */
function paceOf(clock: Clock, specMs: number) {
  const pace = createPace("container", clock);
  pace.measured(specMs);
  return pace;
}

test("an image that starts in a second when it is measured, and in twenty later, meets its rules", async () => {
  const clock = createClock();
  const program = createProgramTarget(notebook);
  let runCount = 0;
  const fixtures = await loadRecordings(
    fileURLToPath(new URL("../../fixtures/reference/", import.meta.url)),
  );
  const lab = await openLab({
    target: {
      ...program,
      kind: "container",
      runsAtOnce: 2,
      async run(command, world) {
        await clock.pass(runCount++ === 0 ? 1_000 : 20_000);
        return await program.run(command, world);
      },
    },
    settings: defaultSettings,
    fixtures,
    seed: 1,
    isExhaustive: false,
    todayMs: Date.parse("2026-07-01T00:00:00Z"),
    timers: clock,
  });
  const rules = (await loadRules()).filter(({ id }) =>
    ["CHECK-01", "CHECK-02", "CHECK-03", "READ-04"].includes(id),
  );
  const reports = [];
  for (const rule of rules) reports.push(await tryRule(rule, lab));
  expect(reports.map(({ id, result, problems }) => [id, result, problems])).toEqual(
    rules.map(({ id }) => [id, "pass", []]),
  );
});

test("the time of a run begins when it has started", async () => {
  const clock = createClock();
  const work = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const ended = paceOf(clock, 20_000).within({
    work: work.promise,
    started: started.promise,
    limitMs: 3_000,
  });
  await clock.pass(100_000);
  started.resolve();
  await clock.pass(2_000);
  work.resolve("it came");
  expect(await ended).toBe("it came");
});

test("a run that never starts hangs after ten times what a start took, and its own time", async () => {
  const clock = createClock();
  let isOver = false;
  const ended = paceOf(clock, 500).within({ work: never, started: never, limitMs: 3_000 });
  void ended.then(() => {
    isOver = true;
  });
  await clock.pass(7_999);
  expect(isOver).toBe(false);
  await clock.pass(1);
  expect(await ended).toBeUndefined();
});

test("a run that is late on a machine that has become slow goes on; one whose neighbour is quick hangs", async () => {
  const clock = createClock();
  const pace = paceOf(clock, 500);
  const work = Promise.withResolvers<string>();
  const slow = pace.within({
    work: work.promise,
    started: Promise.resolve(),
    limitMs: 3_000,
    probe: () => clock.pass(4_000),
  });
  await clock.pass(3_000);
  await settle();
  work.resolve("it came");
  expect(await slow).toBe("it came");

  const probes: string[] = [];
  const hanging = pace.within({
    work: never,
    started: Promise.resolve(),
    limitMs: 3_000,
    probe: async () => void probes.push("spec"),
  });
  await clock.pass(40_000);
  expect([await hanging, probes]).toEqual([undefined, ["spec"]]);
});
