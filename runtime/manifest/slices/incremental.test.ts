import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { toSource } from "../source.ts";

const document = parse(
  readFileSync(new URL("../../../fixtures/manifests/source-shop.yaml", import.meta.url), "utf8"),
);
Object.assign(document.streams[0], {
  incremental_sync: {
    ...{ type: "DatetimeBasedCursor", cursor_field: "note", datetime_format: "%Y-%m-%d" },
    ...{ start_datetime: "2026-01-01", end_datetime: "2026-01-10" },
    start_time_option: { inject_into: "request_parameter", field_name: "since" },
  },
  transformations: [],
});
delete document.streams[0].retriever.record_selector.record_filter;
delete document.streams[0].retriever.paginator;
const windowed = structuredClone(document);
Object.assign(windowed.streams[0].incremental_sync, { step: "P4D", cursor_granularity: "P1D" });
const parted = structuredClone(document);
parted.streams[0].retriever.partition_router = {
  ...{ type: "ListPartitionRouter", cursor_field: "region", values: ["eu", "us", "asia"] },
  request_option: { type: "RequestOption", inject_into: "request_parameter", field_name: "region" },
};

/** Reads the first stream until the provider fails, and gives what was asked and kept. */
async function readUntil(
  manifest: unknown,
  answers: readonly (string | undefined)[],
  state: object = {},
) {
  const asked: unknown[] = [];
  const left = [...answers];
  const ctx = {
    config: { account: "north", key: "k" },
    clock: { now: () => Date.UTC(2026, 0, 15), sleep: async () => {} },
    http: {
      async get(_: string, { query }: { query: unknown }) {
        asked.push(query);
        if (left.length === 0) throw new Error("the provider is gone");
        const note = left.shift();
        const data = note === undefined ? [] : [{ id: 1, note }];
        return { status: 200, headers: {}, text: () => "x", json: () => ({ data }) };
      },
    },
  } as never;
  const source = toSource(stringify(manifest), "shop");
  const states: unknown[] = [];
  const stream = { name: "orders", schema: {}, syncMode: "incremental" } as never;
  let failure: unknown;
  try {
    for await (const output of source.read(ctx, stream, state as never))
      if (output.type === "checkpoint") states.push(output.state);
  } catch (error) {
    failure = error;
  }
  return { asked, states, failure };
}

test("the state of a window is kept when all of it is read, and the next read begins there", async () => {
  const first = await readUntil(windowed, ["2026-01-03", undefined]);
  expect(first.failure).toEqual(new Error("the provider is gone"));
  expect(first.asked).toMatchObject([
    { since: "2026-01-01" },
    { since: "2026-01-05" },
    { since: "2026-01-09" },
  ]);
  // The second window had no records: its end is no date of a record.
  expect(first.states).toEqual([{ note: "2026-01-03" }, { note: "2026-01-03" }]);
  const second = await readUntil(windowed, [undefined, undefined], { note: "2026-01-03" });
  expect(second.asked).toMatchObject([{ since: "2026-01-03" }, { since: "2026-01-07" }]);
  expect(second.failure).toBeUndefined();
});

test("a part that is not read has no state of its own, and what holds for all waits for the end", async () => {
  const first = await readUntil(parted, ["2026-01-05", "2026-01-08"]);
  const [eu, us] = [
    { partition: { region: "eu" }, cursor: { note: "2026-01-05" } },
    { partition: { region: "us" }, cursor: { note: "2026-01-08" } },
  ];
  expect(first.states).toEqual([
    { use_global_cursor: false, states: [eu], lookback_window: 0 },
    { use_global_cursor: false, states: [eu, us], lookback_window: 0 },
  ]);
  const second = await readUntil(
    parted,
    [undefined, undefined, "2026-01-02"],
    first.states[1] as object,
  );
  expect(second.asked).toMatchObject([
    { region: "eu", since: "2026-01-05" },
    { region: "us", since: "2026-01-08" },
    { region: "asia", since: "2026-01-01" },
  ]);
  expect(second.states.at(-1)).toMatchObject({ state: { note: "2026-01-08" } });
});

test("stream_state is the state before a window: nothing at first, then what came, or what was saved", async () => {
  const manifest = structuredClone(windowed);
  const { requester } = manifest.streams[0].retriever;
  requester.request_parameters = { after: "{{ stream_state['note'] }}" };
  const first = await readUntil(manifest, [undefined, "2026-01-06", undefined]);
  expect(first.failure).toBeUndefined();
  expect(first.asked).toEqual([
    { since: "2026-01-01" },
    { since: "2026-01-05" },
    { since: "2026-01-09", after: "2026-01-06" },
  ]);
  const later = await readUntil(manifest, [undefined], { note: "2026-01-06" });
  expect(later.asked).toEqual([{ since: "2026-01-06", after: "2026-01-06" }]);
});

test("stream_state of a stream in parts has a cursor for each of them", async () => {
  const manifest = structuredClone(parted);
  const { requester } = manifest.streams[0].retriever;
  requester.request_parameters = { known: "{{ stream_state.states | length }}" };
  const { asked } = await readUntil(manifest, ["2026-01-05", undefined, undefined]);
  expect(asked).toMatchObject([{ known: "1" }, { known: "2" }, { known: "3" }]);
});

test.each([
  [{ note: "yesterday" }],
  [{ note: { $gt: "" } }],
  [{ state_type: "date-range", slices: [{ start: 1, end: null }] }],
])("a state that is none is refused: %j", async (state) => {
  const { failure, asked } = await readUntil(windowed, [], state);
  expect(failure).toMatchObject({ code: "STATE_INVALID" });
  expect(asked).toEqual([]);
});
