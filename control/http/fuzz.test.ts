import { expect, test } from "vitest";
import { fuzzApi } from "../../tests/api-fuzz.ts";

const seed = Number(process.env.FC_SEED ?? 20_261_121);

test(
  `a thousand requests from the document (seed ${seed}) get what it promises`,
  { timeout: 120_000 },
  async () => {
    const report = await fuzzApi({ requests: 1_000, seed });
    expect(report.findings.join("\n")).toBe("");
    if (process.env.FUZZ_VERBOSE) console.log(report.byStatus, report.succeeded.join(" "));
    expect(report.succeeded.length).toBeGreaterThan(10);
  },
);
