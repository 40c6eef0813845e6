/**
 * How a conformance run is asked for, and the run that was opened; the same for sources and
 * destinations.
 */
import { availableParallelism } from "node:os";
import type { NetworkSettings } from "svc-connectors/host";
import type { ConformanceReport, RuleReport } from "./report.ts";
import type { Profile, Rule } from "./rule.ts";
import type { ConformanceSettings } from "./settings.ts";

/**
 * Runs at a time, where each has a process of its own: one more than cores, since one of them
 * starts or waits for a deadline. Four at most: more would wait for the kit itself.
 */
export const runsAtOnce = Math.min(availableParallelism() + 1, 4);

export interface KitOptions {
  /** @see openSubject */
  readonly connector: string;
  readonly cwd: string;
  /** Folder of the recordings, in place of what conformance.yaml says; relative to `cwd`. */
  readonly fixtures?: string | undefined;
  readonly file?: string | undefined;
  readonly kind: "worker" | "module";
  readonly profiles: readonly Profile[];
  /** Rule ids; empty = all of the profiles. */
  readonly rules: readonly string[];
  readonly seed: number;
  readonly isExhaustive: boolean;
  /**
   * Processes in which `run` tries rules of a source that runs in the kit's own process, one run at
   * a time; that one is the first of them. Default 1.
   */
  readonly processes?: number | undefined;
  /** Part of each sample of runs of a source that is taken. Default by the kind of subject. */
  readonly effort?: number | undefined;
  /**
   * Time for all rules of a source together; those that find most are tried first, and the report
   * lists what was left out. Default: as much as they need. ms.
   */
  readonly budgetMs?: number | undefined;
  /** The operator's network settings. */
  readonly network?: Partial<NetworkSettings> | undefined;
  /** The command that does this again, without --rules and --seed. */
  readonly command: string;
  /** Ends the run: the report then has the rules that were tried until then. */
  readonly signal?: AbortSignal | undefined;
  readonly onStart?: ((rules: readonly unknown[]) => void) | undefined;
  readonly onFinished?: ((report: RuleReport) => void) | undefined;
}

export interface OpenKit extends AsyncDisposable {
  readonly settings: ConformanceSettings;
  readonly todayMs: number;
  readonly rules: readonly Pick<Rule, "id" | "title">[];
  /** Tries one of the rules. */
  tryRule(id: string): Promise<RuleReport>;
  run(): Promise<ConformanceReport>;
}
