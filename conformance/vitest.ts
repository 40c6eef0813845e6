/**
 * "svc-connectors/conformance/vitest": the rules as tests of vitest, in one line of a connector's
 * test: `await conformance(new URL("./index.ts", import.meta.url));`
 */
import { afterAll, beforeAll, describe, test } from "vitest";
import { type Conformance, createConformance } from "./adapter.ts";

export const conformance: Conformance = createConformance({ describe, test, beforeAll, afterAll });
