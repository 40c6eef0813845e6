import { expect, test } from "vitest";
import { fuzzApi } from "../../tests/api-fuzz.ts";

/** In CI ten thousand besides: fuzz.long.test.ts. */
const requests = 300;
const seed = Number(process.env.FC_SEED ?? 20_261_121);

test(`${requests} requests from the document (seed ${seed}) get what it promises`, async () => {
  const report = await fuzzApi({ requests, seed });
  expect(report.findings.join("\n")).toBe("");
  if (process.env.FUZZ_VERBOSE) console.log(report.byStatus, report.succeeded.join(" "));
  expect(report.succeeded.length).toBeGreaterThan(10);
});
