/**
 * "svc-connectors/conformance/vitest": the rules as tests of vitest. One line in a connector's test:
 * `await conformance(new URL("./index.ts", import.meta.url));`
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { applyWaivers } from "./waivers.ts";
import { tryRule } from "./certify.ts";
import type { RuleReport } from "./contract/report.ts";
import type { Profile } from "./contract/rule.ts";
import { openKit, type OpenKit } from "./kit.ts";
import { failureLines } from "./report/failure.ts";
import { terminalLimits } from "./report/evidence.ts";
import { chooseRules, loadRules } from "./rules.ts";

export interface ConformanceOptions {
  /** Folder of the recordings. Default: as conformance.yaml beside the connector says. */
  readonly fixtures?: string;
  /** Default all but scale. */
  readonly profiles?: readonly Profile[];
  /** Only these rules. */
  readonly rules?: readonly string[];
  /** Default 1. */
  readonly seed?: number;
  readonly isExhaustive?: boolean;
  /** Default "module": this process, as the other tests. */
  readonly target?: "worker" | "module";
}

const ruleTimeoutMs = 120_000;

/** Registers a test for each rule. `connector`: a path, a file: URL, or the name of a built-in. */
export async function conformance(connector: string | URL, options: ConformanceOptions = {}): Promise<void> {
  const { profiles = ["core", "resumable", "resilient", "oauth"], rules: ids = [], seed = 1, isExhaustive = false, target: kind = "module" } = options;
  const wanted = String(connector).startsWith("file:") ? fileURLToPath(connector) : String(connector);
  const { chosen } = chooseRules(await loadRules(), profiles, ids);
  let kit: OpenKit;
  const reports: RuleReport[] = [];
  beforeAll(async () => {
    kit = await openKit({
      ...{ connector: wanted, cwd: process.cwd(), kind, profiles, rules: ids, seed, isExhaustive },
      command: `svc conformance ${wanted}`,
      ...(options.fixtures === undefined ? {} : { fixtures: options.fixtures }),
    });
  }, ruleTimeoutMs);
  afterAll(() => kit?.[Symbol.asyncDispose]());

  describe("conformance", () => {
    test.each(chosen.map((rule) => [`${rule.id} ${rule.title}`, rule] as const))(
      "%s",
      async (_, rule) => {
        const tried = await tryRule(rule, kit.lab, `svc conformance ${wanted}`);
        reports.push(tried);
        const [waived = tried] = applyWaivers([tried], kit.lab.settings.waivers, kit.lab.todayMs, new Set([rule.id])).reports;
        const isBroken = waived.result === "fail" || waived.result === "vacuous" || waived.result === "error";
        expect(isBroken ? failureLines(waived, terminalLimits).join("\n") : "").toBe("");
      },
      ruleTimeoutMs,
    );

    test("the waivers hold, and something was proved", () => {
      const { remarks } = applyWaivers(reports, kit.lab.settings.waivers, kit.lab.todayMs, new Set(chosen.map(({ id }) => id)));
      expect(remarks).toEqual([]);
    });
  });
}
