import { expect, test } from "vitest";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Observation, ObservedMessage } from "../../contract/observation.ts";
import { cutOff, readFrom, undisturbed } from "./reads.ts";

const stream = {
  label: "notes",
  isIncremental: true,
  recording: {},
  stream: { name: "notes" },
} as unknown as StreamFacts;

const messageAt = (index: number, text: string): ObservedMessage => ({
  message: { type: "RECORD", record: { stream: "notes", data: { id: index } } },
  line: `${text} ${index}`,
  requestCount: 1 + Math.floor(index / 2),
  atMs: 0,
});

const rowCount = 6;

/** A connector whose reads give six rows of three pages; `text`: what they say in that run. */
function labOf(abilities: readonly string[], text: (options: RunOptions) => string) {
  const asked: RunOptions[] = [];
  const kept = new Map<string, Promise<unknown>>();
  const lab = {
    can: (ability: string) => abilities.includes(ability),
    readCommand: (_: unknown, wanted: object) => ({ verb: "read", ...wanted }),
    async run(command: unknown, options: RunOptions = {}) {
      asked.push(options);
      const { stopAfter = rowCount } = options;
      const all = Array.from({ length: rowCount }, (_, index) => messageAt(index, text(options)));
      return {
        command,
        messages: all.slice(0, stopAfter),
        exchanges: Array.from({ length: 3 }, (_, index) => ({ request: { index } })),
        isStopped: stopAfter < rowCount,
      } as unknown as Observation;
    },
    once(name: string, work: () => Promise<unknown>) {
      const known = kept.get(name) ?? work();
      kept.set(name, known);
      return known;
    },
    undisturbed: (command: unknown) =>
      lab.once(JSON.stringify(command), () => lab.run(command)) as Promise<Observation>,
  };
  return { lab: lab as unknown as Lab, asked };
}

const cutsIn = (asked: readonly RunOptions[]) => asked.flatMap(({ stopAfter }) => stopAfter ?? []);

test("a read that nothing disturbs is done once for each state", async () => {
  const { lab, asked } = labOf([], () => "row");
  await readFrom(lab, stream, { since: 1 });
  await readFrom(lab, stream, { since: 1 });
  expect(asked).toHaveLength(1);
  await readFrom(lab, stream, { since: 2 });
  await readFrom(lab, stream, { since: 2 }, { stopAfter: 1 });
  expect(asked).toHaveLength(3);
});

test("in a sandbox one read is cut off, and the others are the beginnings of theirs", async () => {
  const { lab, asked } = labOf(["isolation"], () => "row");
  const whole = await undisturbed(lab, stream);
  const cuts = [];
  for (const after of [0, 2, 5]) cuts.push(await cutOff(lab, stream, { after, whole }));
  expect(cutsIn(asked)).toEqual([3]);
  expect(cuts.map(({ messages }) => messages.length)).toEqual([0, 2, 5]);
  expect(cuts.map(({ recordCount }) => recordCount)).toEqual([0, 2, 5]);
  expect(cuts.map(({ exchanges }) => exchanges.length)).toEqual([1, 2, 3]);
  expect(cuts.every(({ isStopped }) => isStopped)).toBe(true);
  const resumed = await cutOff(lab, stream, { state: { since: 1 }, after: 1 });
  expect(resumed.messages.map(({ line }) => line)).toEqual(["row 0"]);
  expect(cutsIn(asked)).toEqual([3]);
});

test("a read that ends before is whole", async () => {
  const { lab } = labOf(["isolation"], () => "row");
  const end = await cutOff(lab, stream, { state: { since: 1 }, after: rowCount });
  expect(end.isStopped).toBe(false);
  expect(end.messages).toHaveLength(rowCount);
});

test("outside of a sandbox, and where a read that is cut off begins otherwise, each is cut off", async () => {
  const outside = labOf([], () => "row");
  const other = labOf(["isolation"], ({ stopAfter }) => (stopAfter ? "other row" : "row"));
  for (const { lab, asked } of [outside, other]) {
    const whole = await undisturbed(lab, stream);
    for (const after of [1, 2]) await cutOff(lab, stream, { after, whole });
    expect(cutsIn(asked).slice(-2)).toEqual([1, 2]);
  }
});
