/** The rules as tests of a runner; one file beside this makes it for each runner. */
import { fileURLToPath } from "node:url";
import { chooseRules, loadRules } from "./certify/load-rules.ts";
import { applyWaivers } from "./certify/waivers.ts";
import type { OpenKit } from "./contract/kit.ts";
import type { RuleReport } from "./contract/report.ts";
import type { Profile, Rule } from "./contract/rule.ts";
import { loadDestinationRules } from "./destination/load-rules.ts";
import { findDestinationSubject } from "./destination/subject.ts";
import { openKit } from "./kit.ts";
import { terminalLimits } from "./report/evidence.ts";
import { failureLines } from "./report/failure.ts";
import { failingResults } from "./report/results.ts";

export interface ConformanceOptions {
  /** Folder of the recordings. Default: as conformance.yaml beside the connector says. */
  readonly fixtures?: string | undefined;
  /** Default all but scale. */
  readonly profiles?: readonly Profile[] | undefined;
  /** Only these rules. */
  readonly rules?: readonly string[] | undefined;
  /** Default 1. */
  readonly seed?: number | undefined;
  readonly isExhaustive?: boolean | undefined;
  /** Part of each sample of runs of a source that is taken, above 0. Default 1. */
  readonly effort?: number | undefined;
  /** Default "module": this process, as the other tests. */
  readonly target?: "worker" | "module" | undefined;
}

/** The part of a test runner that the kit uses. */
export interface TestRunner {
  describe(name: string, body: () => void): void;
  test(name: string, body: () => Promise<void>, timeoutMs: number): void;
  beforeAll(body: () => Promise<void>, timeoutMs: number): void;
  afterAll(body: () => Promise<void>): void;
}

/**
 * Registers a test for each rule. `connector`: a file: URL, a path, `destination:PATH`, or the name
 * of a built-in.
 */
export type Conformance = (connector: string | URL, options?: ConformanceOptions) => Promise<void>;

/** Ends what hangs. How long a run takes on a busy machine is no failure. */
const timeoutMs = 600_000;

export function createConformance({
  describe,
  test,
  beforeAll,
  afterAll,
}: TestRunner): Conformance {
  return async (connector, options = {}) => {
    const { rules: ids = [], seed = 1, isExhaustive = false, target: kind = "module" } = options;
    const profiles = options.profiles ?? ["core", "resumable", "resilient", "oauth"];
    const wanted = String(connector).startsWith("file:")
      ? fileURLToPath(connector)
      : String(connector);
    const command = `svc conformance ${wanted}`;
    const isDestination = findDestinationSubject(wanted, process.cwd()) !== undefined;
    const { chosen } = chooseRules<Pick<Rule, "id" | "profile" | "title">>(
      isDestination ? await loadDestinationRules() : await loadRules(),
      profiles,
      ids,
    );
    const triedIds = new Set(chosen.map(({ id }) => id));
    const reports: RuleReport[] = [];
    let kit: OpenKit | undefined;
    const opened = (): OpenKit => {
      if (!kit) throw new Error("the connector could not be opened: see the first failure");
      return kit;
    };

    describe(`conformance of ${wanted}`, () => {
      beforeAll(async () => {
        const { fixtures, effort } = options;
        kit = await openKit({
          connector: wanted,
          cwd: process.cwd(),
          kind,
          profiles,
          rules: ids,
          seed,
          isExhaustive,
          effort,
          command,
          fixtures,
        });
      }, timeoutMs);
      afterAll(async () => kit?.[Symbol.asyncDispose]());

      for (const rule of chosen) {
        test(
          `${rule.id} ${rule.title}`,
          async () => {
            const { settings, todayMs, tryRule } = opened();
            const tried = await tryRule(rule.id);
            reports.push(tried);
            const [judged = tried] = applyWaivers(
              [tried],
              settings.waivers,
              todayMs,
              triedIds,
            ).reports;
            if (failingResults.includes(judged.result))
              throw new Error(failureLines(judged, terminalLimits).join("\n"));
          },
          timeoutMs,
        );
      }
      test(
        "the waivers hold, and something was proved",
        async () => {
          const { settings, todayMs } = opened();
          const { remarks } = applyWaivers(reports, settings.waivers, todayMs, triedIds);
          if (remarks.length > 0) throw new Error(remarks.join("\n"));
        },
        timeoutMs,
      );
    });
  };
}
