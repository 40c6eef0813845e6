/** One conformance run of a source, from what a person names to the report. */
import { resolve } from "node:path";
import { packageVersion } from "svc-connectors/host";
import { certify, tryRule } from "../certify/certify.ts";
import { chooseRules, loadRules } from "../certify/load-rules.ts";
import { runsOf, yieldEffort } from "../certify/yields.ts";
import type { Budget } from "../contract/budget.ts";
import type { KitOptions, OpenKit } from "../contract/kit.ts";
import type { Rule } from "../contract/rule.ts";
import { UnusableError } from "../contract/unusable.ts";
import { loadRecordings } from "../fixtures/load.ts";
import { databaseKindOf, seedFileName, startDatabase } from "../target/database.ts";
import { openSubject } from "../target/subject.ts";
import { createKitProcess } from "./kit-processes.ts";
import { type OpenLab, openLab } from "./open-lab.ts";

export interface OpenSourceKit extends OpenKit {
  readonly lab: OpenLab;
}

/** @throws UnusableError: what the author has to put right before a rule can be tried */
export async function openSourceKit(options: KitOptions): Promise<OpenSourceKit> {
  const { chosen, unknown } = chooseRules(await loadRules(), options.profiles, options.rules);
  if (unknown.length > 0)
    throw new UnusableError(
      `there is no rule ${unknown.join(", ")}; docs/conformance.md lists them`,
    );
  const { kind, cwd, file, network } = options;
  const startedAt = new Date();
  const startMs = performance.now();
  const { target, settings } = await openSubject(options.connector, {
    kind,
    cwd,
    network: network ?? {},
    file,
  });
  await using opening = new AsyncDisposableStack();
  opening.use(target);
  const folder =
    options.fixtures === undefined ? settings.fixtures : resolve(cwd, options.fixtures);
  const databaseKind = await databaseKindOf(target);
  const fixtures = await loadRecordings(folder, databaseKind !== undefined);
  const database = databaseKind
    ? await startDatabase(databaseKind, resolve(folder, settings.database ?? seedFileName))
    : undefined;
  if (database && !("missing" in database)) opening.use(database);
  const { seed, isExhaustive, effort } = options;
  const lab = await openLab({
    target,
    settings,
    fixtures,
    seed,
    isExhaustive,
    effort,
    todayMs: startedAt.getTime(),
    database,
    signal: options.signal,
  });
  const { budgetMs } = options;
  const budget = budgetMs === undefined ? undefined : budgetOf(budgetMs, startMs);
  const open = opening.move();
  return {
    lab,
    settings,
    todayMs: lab.todayMs,
    rules: chosen,
    async tryRule(id) {
      const rule = chosen.find((one) => one.id === id);
      if (!rule) throw new UnusableError(`there is no rule ${id}`);
      if (budget) lab.limitTime(budget);
      return await tryRule(rule, lab, options.command);
    },
    async run() {
      options.onStart?.(chosen);
      if (budget) await planBudget(lab, chosen, budget);
      await using processes = new AsyncDisposableStack();
      const lanes = Array.from({ length: processesBeside(options, lab, chosen.length) }, () =>
        processes.use(createKitProcess({ ...options, effort: lab.effort })),
      );
      return await certify({
        lab,
        rules: chosen,
        lanes,
        profiles: options.profiles,
        waivers: settings.waivers,
        kitVersion: packageVersion,
        // The rules are tried on code that has none, too: it is too large, or cannot be read.
        codeDigest: await target.codeDigest?.().catch(() => undefined),
        command: options.command,
        startedAt: startedAt.toISOString(),
        budget: budget && { ms: budget.ms, effort: lab.effort },
        signal: options.signal,
        onFinished: options.onFinished,
      });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const budgetOf = (ms: number, startMs: number): Budget => ({
  ms,
  leftMs: () => ms - (performance.now() - startMs),
});

/** A process takes as long to start as this many rules. */
const rulesOfAProcess = 20;

/** How many besides this one. A database is one, and rules change what it holds. */
function processesBeside({ processes = 1 }: KitOptions, lab: OpenLab, ruleCount: number): number {
  if (lab.database !== undefined || !lab.can("inside")) return 0;
  return Math.min(processes, Math.ceil(ruleCount / rulesOfAProcess)) - 1;
}

/**
 * Takes samples so small that all rules fit into what is left: by what runs of this target take on
 * this machine, and what the rules need of the reference. The recorded runs are part of both. No
 * run is begun when nothing is left.
 */
async function planBudget(lab: OpenLab, rules: readonly Rule[], budget: Budget): Promise<void> {
  await lab.golden();
  const neededMs = (runsOf(rules) * lab.runMs()) / lab.runsAtOnce;
  lab.limitEffort((yieldEffort * Math.max(0, budget.leftMs())) / Math.max(1, neededMs));
  lab.limitTime(budget);
}
