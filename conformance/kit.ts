/**
 * One conformance run from what a person names to the report. The command line and the test adapter
 * share it.
 */
import { resolve } from "node:path";
import { type NetworkSettings, packageVersion } from "svc-connectors/host";
import { certify, tryRule } from "./certify.ts";
import type { Lab } from "./contract/lab.ts";
import type { ConformanceReport, RuleReport } from "./contract/report.ts";
import type { Profile, Rule } from "./contract/rule.ts";
import type { ConformanceSettings } from "./contract/settings.ts";
import { openDestinationKit } from "./destination/kit.ts";
import { findDestinationSubject } from "./destination/subject.ts";
import { FixtureError } from "./fixtures/fixture-error.ts";
import { loadRecordings } from "./fixtures/load.ts";
import { openLab } from "./lab.ts";
import { chooseRules, loadRules } from "./rules.ts";
import { openSubject } from "./subject.ts";
import { seedFileName, speaksToDatabase, startDatabase } from "./target/database.ts";
import { UnusableError } from "./unusable.ts";

export interface KitOptions {
  /** @see openSubject */
  readonly connector: string;
  readonly cwd: string;
  /** Folder of the recordings, in place of what conformance.yaml says; relative to `cwd`. */
  readonly fixtures?: string;
  readonly file?: string;
  readonly kind: "worker" | "module";
  readonly profiles: readonly Profile[];
  /** Rule ids; empty = all of the profiles. */
  readonly rules: readonly string[];
  readonly seed: number;
  readonly isExhaustive: boolean;
  /** What the operator allows. */
  readonly network?: Partial<NetworkSettings>;
  /** The command that does this again, without --rules and --seed. */
  readonly command: string;
  readonly onStart?: (rules: readonly unknown[]) => void;
  readonly onFinished?: (report: RuleReport) => void;
}

export interface OpenKit extends AsyncDisposable {
  readonly settings: ConformanceSettings;
  readonly todayMs: number;
  readonly rules: readonly Pick<Rule, "id" | "title">[];
  /** Tries one of the rules. */
  tryRule(id: string): Promise<RuleReport>;
  run(): Promise<ConformanceReport>;
}

export interface OpenSourceKit extends OpenKit {
  readonly lab: Lab & { readonly runCount: number };
}

/**
 * For a source or a destination.
 * @throws UnusableError, FixtureError: what the author has to put right before a rule can be tried
 */
export async function openKit(options: KitOptions): Promise<OpenKit> {
  const destination = findDestinationSubject(options.connector, options.cwd, options.file);
  return destination
    ? await openDestinationKit(destination, options)
    : await openSourceKit(options);
}

/** @throws as {@link openKit} */
export async function openSourceKit(options: KitOptions): Promise<OpenSourceKit> {
  const { chosen, unknown } = chooseRules(await loadRules(), options.profiles, options.rules);
  if (unknown.length > 0)
    throw new UnusableError(
      `there is no rule ${unknown.join(", ")}; docs/conformance.md lists them`,
    );
  const { kind, cwd, file, network } = options;
  const startedAt = new Date();
  const { target, settings } = await openSubject(options.connector, {
    kind,
    cwd,
    network: network ?? {},
    ...(file === undefined ? {} : { file }),
  });
  await using opening = new AsyncDisposableStack();
  opening.use(target);
  const folder =
    options.fixtures === undefined ? settings.fixtures : resolve(cwd, options.fixtures);
  const isDatabase = await speaksToDatabase(target);
  const fixtures = await loadRecordings(folder, isDatabase);
  const database = isDatabase
    ? await startDatabase(resolve(folder, settings.database ?? seedFileName))
    : undefined;
  if (database && !("missing" in database)) opening.use(database);
  const { seed, isExhaustive } = options;
  const lab = await openLab({
    target,
    settings,
    fixtures,
    seed,
    isExhaustive,
    todayMs: startedAt.getTime(),
    ...(database ? { database } : {}),
  });
  const open = opening.move();
  return {
    lab,
    settings,
    todayMs: lab.todayMs,
    rules: chosen,
    async tryRule(id) {
      const rule = chosen.find((one) => one.id === id);
      if (!rule) throw new UnusableError(`there is no rule ${id}`);
      return await tryRule(rule, lab, options.command);
    },
    async run() {
      options.onStart?.(chosen);
      return await certify({
        lab,
        rules: chosen,
        profiles: options.profiles,
        waivers: settings.waivers,
        kitVersion: packageVersion,
        command: options.command,
        startedAt: startedAt.toISOString(),
        ...(options.onFinished ? { onFinished: options.onFinished } : {}),
      });
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Mistakes in what the author gave, in words for them. */
export const isUnusable = (error: unknown): error is Error =>
  error instanceof UnusableError || error instanceof FixtureError;
