import type { CatalogStream, SeenExchange } from "svc-connectors/host";
import { expect, test } from "vitest";
import { captureAll } from "./captures.ts";
import type { RecordedSubject } from "./subject.ts";

const spec = { type: "object", properties: {} };
const exchange: SeenExchange = {
  ...{ index: 0, method: "GET", url: "https://api.example.com/", requestHeaders: {} },
  ...{ requestBody: undefined, status: 200, responseHeaders: {}, responseBody: Buffer.alloc(100) },
};

/** Sends one request for each verb. */
function subjectOf(labels: readonly string[]): RecordedSubject {
  const streams = labels.map(
    (name): CatalogStream => ({
      ...{ name, json_schema: {}, supported_sync_modes: ["full_refresh"], is_resumable: false },
      ...{ source_defined_cursor: false, default_cursor_field: [], source_defined_primary_key: [] },
    }),
  );
  return {
    published: async () => ({ version: "1.0.0", spec, egress: undefined }),
    async run(_, allowance) {
      allowance.take(exchange);
      const result = { lines: [], state: [], streams };
      return { result, clockOriginMs: 0, exchanges: [exchange] };
    },
    replay: () => Promise.reject(new Error("nothing is replayed here")),
    async [Symbol.asyncDispose]() {},
  };
}

const labels = (count: number) =>
  Array.from({ length: count }, (_, index) => `stream-${index + 1}`);

test.each([
  [{ maxRequests: 1 }, "10 requests were recorded"],
  [{ maxBytes: 100 }, "0.001 MB were recorded"],
])("streams after ten times %j are left out by name", async (limits, why) => {
  const subject = subjectOf(labels(30));
  const { captures, notices } = await captureAll({ subject, config: {}, limits });
  // With check and discover.
  expect(captures.length).toBe(10);
  const [ten] = ["stream-9, stream-10, stream-11, stream-12, stream-13, stream-14, stream-15"];
  expect(notices).toEqual([
    `${ten}, stream-16, stream-17, stream-18 and 12 more were left out: ${why} before. Choose streams with --streams, or raise --max-requests or --max-mb.`,
  ]);
});

test("no more files are recorded than the kit loads", async () => {
  const subject = subjectOf(labels(1_000));
  const { captures, notices } = await captureAll({ subject, config: {} });
  expect(captures.length).toBe(990);
  expect(notices).toEqual([
    expect.stringMatching(/ and 2 more were left out: 990 files were recorded before\./),
  ]);
});
