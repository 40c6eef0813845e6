/**
 * Tries rules on a connector and makes the report: one rule after another, or as many at a time as
 * the target bears runs; each result by one table.
 */
import { BudgetSpentError } from "../contract/budget.ts";
import { choosingFor } from "../contract/choices.ts";
import type { ConformanceReport, Problem, Result, RuleReport } from "../contract/report.ts";
import type { Evidence, Profile, Reporter, Rule } from "../contract/rule.ts";
import { countRunsOf } from "../contract/run-count.ts";
import type { Waiver } from "../contract/settings.ts";
import type { TargetDocument } from "../contract/target.ts";
import { countResults, durationText } from "../report/results.ts";
import { families } from "./families.ts";
import { applyWaivers } from "./waivers.ts";
import { byYield } from "./yields.ts";

/** The part of a lab that a report needs, whatever rules try in it. */
export interface TriedLab {
  readonly target: {
    readonly kind: string;
    readonly name: string;
    readonly document?: TargetDocument | undefined;
  };
  /** Default: 1. */
  readonly runsAtOnce?: number | undefined;
  /** Only of svc connectors. */
  readonly manifest: { readonly id: string; readonly version: string } | undefined;
  readonly seed: number;
  readonly isExhaustive: boolean;
  /** Today, for the age of recordings and waivers; ms. */
  readonly todayMs: number;
  /** Why there is nothing that the connector could read or write: what to install for it. */
  readonly missingProvider: string | undefined;
  /** Grows with every run. */
  readonly runCount: number;
}

/** Tries one rule after another beside the lab. */
export interface Lane {
  /** Grows with every run. */
  readonly runCount: number;
  /** @throws Error when the rule could not be tried */
  tryRule(id: string): Promise<RuleReport>;
}

export interface CertifyOptions<Subject> {
  readonly lab: Subject & TriedLab;
  readonly rules: readonly Rule<Subject>[];
  /** Others that try some of the rules at the same time. Default none. */
  readonly lanes?: readonly Lane[] | undefined;
  readonly profiles: readonly Profile[];
  readonly waivers: readonly Waiver[];
  readonly kitVersion: string;
  /** Digest of the code that is tried. */
  readonly codeDigest?: string | undefined;
  /** The command line that tries one rule of this connector again, without `--rules`. */
  readonly command: string;
  readonly startedAt: string;
  /**
   * The rules that find most for their time are tried first, and the lab begins no run when it is
   * spent: a rule that needs one then is left out, or ends with what it has seen. `effort`: the
   * part of each sample that is taken, so that all rules fit.
   */
  readonly budget?: ConformanceReport["budget"] | undefined;
  /**
   * When it aborts, no further rule is tried, and the one that is being tried counts for nothing.
   */
  readonly signal?: AbortSignal | undefined;
  readonly onStarted?: ((rule: Rule<Subject>) => void) | undefined;
  readonly onFinished?: ((report: RuleReport) => void) | undefined;
}

/** Never throws for what a connector does. */
export async function certify<Subject>(
  options: CertifyOptions<Subject>,
): Promise<ConformanceReport> {
  const { lab, rules, profiles, kitVersion, codeDigest, startedAt, budget, lanes = [] } = options;
  const startMs = performance.now();
  const reported = new Map<Rule<Subject>, RuleReport>();
  const waiting = inGroups(options);
  const tryNext = async (tryOne: (rule: Rule<Subject>) => Promise<RuleReport>) => {
    for (let group = waiting.shift(); group; group = waiting.shift())
      for (const rule of group) {
        if (options.signal?.aborted) return;
        options.onStarted?.(rule);
        const report = await tryOne(rule);
        if (options.signal?.aborted) return;
        reported.set(rule, report);
        options.onFinished?.(report);
      }
  };
  const tryHere = (rule: Rule<Subject>) => tryRule(rule, lab, options.command);
  const tryIn = (lane: Lane) => (rule: Rule<Subject>) =>
    lane.tryRule(rule.id).catch((error) => notTried(rule, lab, options.command, error));
  await Promise.all([
    ...Array.from({ length: lab.runsAtOnce ?? 1 }, () => tryNext(tryHere)),
    ...lanes.map((lane) => tryNext(tryIn(lane))),
  ]);
  const tried = rules.flatMap((rule) => reported.get(rule) ?? []);
  const waived = applyWaivers(
    tried,
    options.waivers,
    lab.todayMs,
    new Set(tried.map(({ id }) => id)),
  );
  const { reports } = waived;
  const remarks =
    tried.length < rules.length
      ? [
          ...waived.remarks,
          `It was interrupted: ${tried.length} of ${rules.length} rules were tried.`,
        ]
      : waived.remarks;
  const counts = countResults(reports);
  return {
    format: 1,
    kitVersion,
    connector: {
      name: lab.target.name,
      ...(lab.manifest ? { id: lab.manifest.id, version: lab.manifest.version } : {}),
      ...(codeDigest === undefined ? {} : { digest: codeDigest }),
    },
    target: lab.target.kind,
    profiles,
    seed: lab.seed,
    isExhaustive: lab.isExhaustive,
    ...(budget ? { budget: { ms: budget.ms, effort: budget.effort } } : {}),
    startedAt,
    durationMs: Math.round(performance.now() - startMs),
    runCount: lanes.reduce((sum, lane) => sum + lane.runCount, lab.runCount),
    counts,
    verdict: verdictOf(counts, remarks),
    remarks,
    rules: reports,
  };
}

/** Rules that are tried one after another, each group by one lane. */
function inGroups<Subject>({
  rules,
  budget,
  lanes = [],
}: CertifyOptions<Subject>): (readonly Rule<Subject>[])[] {
  if (budget) return byYield(rules).map((rule) => [rule]);
  return lanes.length > 0 ? families(rules) : rules.map((rule) => [rule]);
}

/** First problems that a report keeps; a sweep may find hundreds of one kind. */
const maxProblems = 10;
const maxSubjects = 20;
const maxUntried = 20;

export async function tryRule<Subject>(
  rule: Rule<Subject>,
  lab: Subject & TriedLab,
  command = "",
): Promise<RuleReport> {
  const startMs = performance.now();
  const runs = { count: 0 };
  const subjects = new Set<string>();
  const problems: Problem[] = [];
  const untried = new Set<string>();
  let problemCount = 0;
  const { document } = lab.target;
  const fail = (words: string, ...evidence: Evidence[]) => {
    // A sentence that ends with the connector's own message has its full stop already.
    const sentence = words.replaceAll(/(?<!\.)\.\.(?=\s|$)/g, ".");
    if (document?.isOfTheRuntime(rule.id, sentence)) return;
    problemCount++;
    if (problems.length >= maxProblems) return;
    const place = document?.placeOf(rule.id, sentence);
    problems.push({
      sentence: place === undefined ? sentence : `${place}: ${sentence}`,
      evidence,
    });
  };
  const report: Reporter = {
    checked: (subject) => void subjects.add(subject),
    untried: (why) => void untried.add(why),
    fail,
    missing: (sentence) => fail(sentence),
    get problemCount() {
      return problemCount;
    },
  };
  let result: Result;
  let reason: string | undefined;
  // Deadlines hold no process: one that waits for nothing else would end in the middle of a rule.
  const staying = setInterval(() => undefined, 60_000);
  try {
    reason =
      (rule.needsProvider === false ? undefined : lab.missingProvider) ??
      document?.beyondItsAuthor(rule.id) ??
      (await countRunsOf(runs, async () => rule.notApplicable?.(lab)));
    if (reason === undefined)
      await countRunsOf(runs, () =>
        choosingFor(rule.id, lab.seed, async () => await rule.run(lab, report)),
      );
    if (subjects.size === 0 && problemCount === 0) reason ??= [...untried][0];
    result = reason !== undefined ? "not-applicable" : resultOf(rule, problemCount, subjects.size);
    if (result === "vacuous")
      reason = "nothing was found to look at, so that a pass would mean nothing";
  } catch (error) {
    if (error instanceof BudgetSpentError) {
      if (subjects.size + problemCount === 0) return leaveOut(rule, lab, command, error);
      untried.add(`the rest: the budget of ${durationText(error.budgetMs)} was spent`);
      result = resultOf(rule, problemCount, subjects.size);
    } else {
      result = "error";
      reason = kitFailure(error);
    }
  } finally {
    clearInterval(staying);
  }
  if (problemCount > maxProblems) {
    problems.push({
      sentence: `${problemCount - maxProblems} more of this kind are not shown.`,
      evidence: [],
    });
  }
  return {
    ...describe(rule, lab, command),
    result,
    subjectCount: subjects.size,
    subjects: [...subjects].slice(0, maxSubjects),
    ...(untried.size === 0 ? {} : { untried: [...untried].slice(0, maxUntried) }),
    problems,
    ...(reason === undefined ? {} : { reason }),
    runCount: runs.count,
    durationMs: Math.round(performance.now() - startMs),
  };
}

const kitFailure = (error: unknown) =>
  `the kit failed while it tried this rule: ${error instanceof Error ? error.message : String(error)}`;

/** The fields of a rule's report that do not depend on its result. */
const describe = <Subject>(
  { id, level, profile, title, why, fix }: Rule<Subject>,
  lab: TriedLab,
  command: string,
) => ({
  ...{ id, level, profile, title, why, fix },
  repro: `${command} --rules ${id} --seed ${lab.seed}${lab.isExhaustive ? " --exhaustive" : ""}`,
});

const leaveOut = <Subject>(
  rule: Rule<Subject>,
  lab: TriedLab,
  command: string,
  { budgetMs }: BudgetSpentError,
): RuleReport => ({
  ...describe(rule, lab, command),
  ...nothing,
  result: "left-out",
  reason: `the budget of ${durationText(budgetMs)} was spent on rules that find more in less time`,
});

const notTried = <Subject>(
  rule: Rule<Subject>,
  lab: TriedLab,
  command: string,
  error: unknown,
): RuleReport => ({
  ...describe(rule, lab, command),
  ...nothing,
  result: "error",
  reason: kitFailure(error),
});

const nothing = { subjectCount: 0, subjects: [], problems: [], runCount: 0, durationMs: 0 };

function resultOf(
  { level }: Pick<Rule, "level">,
  problemCount: number,
  subjectCount: number,
): Result {
  if (problemCount > 0) return level === "MUST" ? "fail" : "warn";
  return subjectCount === 0 ? "vacuous" : "pass";
}

function verdictOf(
  counts: Readonly<Record<Result, number>>,
  remarks: readonly string[],
): ConformanceReport["verdict"] {
  if (counts.error > 0) return "unusable";
  return counts.fail + counts.vacuous > 0 || remarks.length > 0 ? "failed" : "passed";
}
