import { expect, test } from "vitest";
import { describeFailure } from "./failure.ts";

test.each([
  ["at read (file:///home/a/tickets/index.ts:41:7)"],
  ["at async read (file:///home/a/tickets/index.ts?run=3:41:7)"],
  ["at /home/a/tickets/index.ts:41:7"],
  [
    "at get (file:///home/a/node_modules/b/index.js:1:1)\n    at file:///home/a/tickets/index.ts:41:7",
  ],
])("a foreign error is told by its class and its place in the connector: %s", (frames) => {
  const error = new TypeError("text of a stranger");
  error.stack = `TypeError: text of a stranger\n    ${frames}`;
  expect(describeFailure(error)).toEqual({
    code: "CONNECTOR_FAILED",
    message: expect.stringContaining("failed with a TypeError in index.ts, line 41."),
    details: { name: "TypeError", file: "index.ts", line: 41 },
  });
});
