import { createHash } from "node:crypto";
import { canonicalize } from "svc-connectors/host";
import { expect, test } from "vitest";
import { digestOf } from "./digest.ts";

test("canonical JSON is that of RFC 8785's own example", () => {
  const value = {
    // biome-ignore lint/correctness/noPrecisionLoss: as in the RFC
    numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\u002f",
    literals: [null, true, false],
  };
  expect(canonicalize(value, "ecmascript")).toBe(
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test("names are ordered by UTF-16 code units, as RFC 8785 has it", () => {
  const value = {
    "\u20ac": 1,
    "\r": 2,
    "\ufb33": 3,
    "1": 4,
    "\ud83d\ude00": 5,
    "\u0080": 6,
    "\u00f6": 7,
  };
  expect(Object.values(JSON.parse(canonicalize(value, "ecmascript")))).toHaveLength(7);
  expect(
    [...canonicalize(value, "ecmascript").matchAll(/:(\d)/g)].map(([, digit]) => Number(digit)),
  ).toEqual([2, 4, 6, 7, 1, 5, 3]);
});

test("the digest does not depend on the order in which the body was written", () => {
  const payload = (body: object) => ({
    method: "PATCH",
    path: "/sources/src_1",
    workspace_id: "ws_1",
    body,
  });
  const digest = digestOf(payload({ name: "a", configuration: { y: 1, x: [1, 2] } }));
  expect(digestOf(payload({ configuration: { x: [1, 2], y: 1 }, name: "a" }))).toBe(digest);
  expect(digestOf(payload({ configuration: { x: [2, 1], y: 1 }, name: "a" }))).not.toBe(digest);
  const text =
    '{"body":{"name":"b"},"method":"PATCH","path":"/sources/src_1","workspace_id":"ws_1"}';
  expect(digestOf(payload({ name: "b" }))).toBe(
    `sha256:${createHash("sha256").update(text).digest("hex")}`,
  );
});
