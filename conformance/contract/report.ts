import type { Evidence, Level, Profile } from "./rule.ts";

/**
 * pass · fail (MUST) · warn (SHOULD) · waived · not-applicable (listed, with the reason) · left-out
 * (the budget was spent before it) · vacuous (nothing was looked at: fails) · error (the kit's own
 * fault: exit 2).
 */
export const results = [
  "pass",
  "fail",
  "warn",
  "waived",
  "not-applicable",
  "left-out",
  "vacuous",
  "error",
] as const;
export type Result = (typeof results)[number];

export interface Problem {
  readonly sentence: string;
  readonly evidence: readonly Evidence[];
}

export interface RuleReport {
  readonly id: string;
  readonly level: Level;
  readonly profile: Profile;
  readonly title: string;
  readonly why: string;
  readonly fix: string;
  readonly result: Result;
  /** How many things were looked at. */
  readonly subjectCount: number;
  /** The first of them. */
  readonly subjects: readonly string[];
  /** The first of the parts that could not be tried, each with its reason. */
  readonly untried?: readonly string[];
  readonly problems: readonly Problem[];
  /** Why it does not apply, is waived, was left out, or went wrong. */
  readonly reason?: string;
  /** Runs of the connector that this rule caused. */
  readonly runCount: number;
  readonly durationMs: number;
  /** A command that tries this rule again. */
  readonly repro: string;
}

export interface ConformanceReport {
  /** Version of this form. */
  readonly format: 1;
  readonly kitVersion: string;
  readonly connector: {
    readonly name: string;
    readonly id?: string;
    readonly version?: string;
    /** Digest of the code that was tried, as `svc connectors digest` shows it. */
    readonly digest?: string;
  };
  readonly target: string;
  readonly profiles: readonly Profile[];
  readonly seed: number;
  readonly isExhaustive: boolean;
  /** Time that was to be spent, and the part of each sample that it allowed. */
  readonly budget?: { readonly ms: number; readonly effort: number };
  /** RFC 3339. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly runCount: number;
  readonly counts: Readonly<Record<Result, number>>;
  /** passed: exit 0 · failed: 1 · unusable: 2 (the kit, its settings or the fixtures are wrong). */
  readonly verdict: "passed" | "failed" | "unusable";
  /**
   * Why the whole run fails though no rule does: everything was waived or did not apply, an unused
   * waiver, …
   */
  readonly remarks: readonly string[];
  readonly rules: readonly RuleReport[];
}
