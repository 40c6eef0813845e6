import type { Lab } from "./lab.ts";

/** MUST fails the certification; SHOULD warns. */
export type Level = "MUST" | "SHOULD";

export const profiles = ["core", "resumable", "resilient", "oauth", "scale"] as const;
export type Profile = (typeof profiles)[number];

/**
 * One promise of a connector, and how it is tried. One file each. `Subject`: what it works with,
 * here a source's lab.
 */
export interface Rule<Subject = Lab> {
  /** Permanent, never used again: "LEAK-01". */
  readonly id: string;
  readonly level: Level;
  readonly profile: Profile;
  /** Version of svc that brought it. */
  readonly since: string;
  /** One sentence: what a connector does. */
  readonly title: string;
  /** The harm to a user when it is not so. */
  readonly why: string;
  /** The change that an author makes. */
  readonly fix: string;
  /** Example of right and wrong, a line or a few of code each. */
  readonly good: string;
  readonly bad: string;
  /**
   * False: it looks at nothing that comes from the provider, so that it can be tried without one.
   */
  readonly needsProvider?: boolean;
  /** Why the rule says nothing about this connector or target; undefined = it applies. */
  notApplicable?(lab: Subject): string | undefined | Promise<string | undefined>;
  /** Tries the connector and reports what it looked at and what was wrong. */
  run(lab: Subject, report: Reporter): Promise<void>;
}

/** Where a rule reports. A rule that looked at nothing is vacuous, and fails. */
export interface Reporter {
  /** Names one thing that was looked at. */
  checked(subject: string): void;
  /**
   * The relation could not be tried there, and why: "every recorded read of notes fails". The
   * report lists it; a rule that could try nothing does not apply, for the first of these reasons.
   */
  untried(reason: string): void;
  /**
   * The connector breaks the rule. `sentence` says what was seen and what was expected, for the
   * author.
   */
  fail(sentence: string, ...evidence: Evidence[]): void;
  /** Something the rule needs is not there: fails with what to do. */
  missing(sentence: string): void;
  readonly problemCount: number;
}

/**
 * Proof of a problem. Everything is text that may be published: secrets are the kit's own canaries.
 */
export type Evidence =
  /** Requests and answers, as they were on the wire. */
  | {
      readonly kind: "exchanges";
      readonly title: string;
      readonly exchanges: readonly EvidenceExchange[];
    }
  /** Lines of the message log; `marked` are those that show the problem (index into lines). */
  | {
      readonly kind: "messages";
      readonly title: string;
      readonly lines: readonly string[];
      readonly marked: readonly number[];
      /** Number of the first line in its run. Default 1. */
      readonly first?: number;
    }
  /** Where a leak stands: the text around it, and the range of the leak in that text. */
  | {
      readonly kind: "leak";
      readonly title: string;
      readonly text: string;
      readonly start: number;
      readonly end: number;
      readonly encoding: string;
    }
  | { readonly kind: "text"; readonly title: string; readonly text: string };

export interface EvidenceExchange {
  readonly request: string;
  readonly response: string;
  readonly isMarked: boolean;
  /** The connector's lines that sent it, "index.ts:42 ← index.ts:107", where they are known. */
  readonly place?: string | undefined;
}

export function defineRule(rule: Rule): Rule {
  return rule;
}
