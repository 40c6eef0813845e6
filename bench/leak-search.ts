/**
 * How fast the kit's search for leaks reads a connector's clean output, against JSON.stringify of
 * the same messages in the same run.
 */
import { performance } from "node:perf_hooks";
import { createLeakSearch } from "../conformance/derive/leaks/leaks.ts";
import { canaryValue } from "../conformance/fixtures/canaries.ts";
import { median } from "./run.ts";

const messageCount = 200_000;
const rounds = 7;

/** Repeatable pseudo-random numbers below 2^31 (Park and Miller, 1988). */
let state = 7;
const random = () => {
  state = (state * 48_271) % 2_147_483_647;
  return state;
};
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const word = (length: number) =>
  Array.from({ length }, () => letters[random() % letters.length]).join("");

const messages = Array.from({ length: messageCount }, (_, index) => ({
  type: "RECORD",
  record: {
    stream: "subscribers",
    emitted_at: 1_790_000_000_000 + index,
    data: {
      id: index,
      email: `person${random()}@example.com`,
      name: `Name ${word(6)} ${word(9)}`,
      status: ["active", "unsubscribed", "bounced"][random() % 3],
      opened_at: new Date(1_700_000_000_000 + random()).toISOString(),
      rate: random() / 2 ** 31,
      tags: ["a", "newsletter", "customer"].slice(random() % 3),
      note: "Opened the message twice, then asked to be called back about the offer.",
    },
  },
}));

const search = createLeakSearch(
  Array.from({ length: 10 }, (_, index) => ({
    name: `config ${index}`,
    value: canaryValue(index, "token"),
  })),
);
const lines = messages.map((message) => JSON.stringify(message));
const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
const stringify: number[] = [];
const searched: number[] = [];
for (let round = 0; round < rounds; round++) {
  stringify.push(
    timed(() => messages.reduce((length, message) => length + JSON.stringify(message).length, 0)),
  );
  searched.push(timed(() => search.isClean(lines)));
}
const stringifySpeed = bytes / median(stringify) / 1000;
const searchSpeed = bytes / median(searched) / 1000;
console.log(
  JSON.stringify({
    bench: "leak-search",
    secrets: 10,
    megabytes: Math.round(bytes / 1e6),
    searchMBs: Math.round(searchSpeed),
    stringifyMBs: Math.round(stringifySpeed),
    ratio: Number((searchSpeed / stringifySpeed).toFixed(2)),
  }),
);

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
