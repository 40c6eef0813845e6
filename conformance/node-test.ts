/**
 * "svc-connectors/conformance/node-test": the rules as tests of Node's own runner (`node --test`),
 * in one line of a test: `await conformance(new URL("./index.ts", import.meta.url));`
 */
import { after, before, describe, test } from "node:test";
import { type Conformance, createConformance } from "./adapter.ts";

export const conformance: Conformance = createConformance({
  describe: (name, body) => void describe(name, body),
  test: (name, body, timeout) => void test(name, { timeout }, body),
  beforeAll: (body, timeout) => before(body, { timeout }),
  afterAll: (body) => after(body),
});
