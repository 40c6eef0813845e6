/** `svc conformance <connector>`: tries the rules, shows what was found, exits 0, 1 or 2. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  addSettingsOption,
  type CommandBuilder,
  exitCode,
  loadNetworkSettings,
  oneOf,
  printable,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { runsAtOnce } from "./contract/kit.ts";
import type { ConformanceReport } from "./contract/report.ts";
import { type Profile, profiles } from "./contract/rule.ts";
import { UnusableError } from "./contract/unusable.ts";
import { openKit } from "./kit.ts";
import { type Form, forms } from "./report/forms.ts";
import { createProgress } from "./report/progress.ts";
import { renderText } from "./report/text.ts";

const defaultProfiles: readonly Profile[] = ["core", "resumable", "resilient", "oauth"];
const formNames = Object.keys(forms) as Form[];
const verdictExit = {
  passed: exitCode.ok,
  failed: exitCode.failed,
  unusable: exitCode.usage,
} as const;
/** 128 and the number of SIGINT, as shells have it. */
const interruptedExit = 130;
const targetKinds = ["worker", "module"] as const;

export const buildConformance: CommandBuilder = (command, terminal) => {
  addSettingsOption(command)
    .argument(
      "<connector>",
      "a connector: a name, the path of a module or of a declarative manifest, destination:PATH, program:PATH or image:NAME",
    )
    .allowExcessArguments()
    .option("--fixtures <DIR>", "recordings; default as conformance.yaml says")
    .option("--file <FILE>", "conformance.yaml of the connector; default beside it")
    .option("--profile <NAMES>", `some of ${profiles.join(",")}; default all but scale`, toProfiles)
    .option("--rules <IDS>", "only these rules: LEAK-01,STATE-01", toList)
    .option("--seed <N>", "chooses what is sampled; default 1", wholeNumber("seed", 0, 999_999_999))
    .option("--exhaustive", "every case of every sweep instead of a sample")
    .option(
      "--budget <TIME>",
      "time for all rules: 90s, 5m, 1h; the most telling ones first, the rest is listed as left out; default 10m for images, where neither --rules nor --exhaustive says what to try, and none elsewhere",
      toBudget,
    )
    .option(
      "--target <KIND>",
      "worker (sandboxed, default) or module (the kit's own processes: quicker, sees more)",
      oneOf("target", targetKinds),
    )
    .option("--report <FORM>", `${formNames.join(", ")}; default text`, oneOf("report", formNames))
    .option("--out <FILE>", "write the report there; a short one is shown all the same")
    .addHelpText("after", "\nExample: svc conformance ./tickets --report html --out report.html")
    .action((connector, options, { args: [, unexpected] }) => {
      if (unexpected !== undefined)
        throw new UsageError(
          `unexpected "${printable(unexpected)}"; a program that speaks the Airbyte Protocol, in Node or whatever else, is tried as an image: svc conformance image:NAME, as docs/images.md shows`,
        );
      return tryRules(connector, options, terminal);
    });
};

interface CommandFlags {
  readonly fixtures?: string | undefined;
  readonly file?: string | undefined;
  readonly profile?: readonly Profile[] | undefined;
  readonly rules?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly exhaustive?: true | undefined;
  /** ms; 0: as long as it takes. */
  readonly budget?: number | undefined;
  readonly target?: (typeof targetKinds)[number] | undefined;
  readonly report?: Form | undefined;
  readonly out?: string | undefined;
  readonly settings?: string | undefined;
}

/** @throws UsageError */
async function tryRules(
  connector: string,
  options: CommandFlags,
  terminal: Terminal,
): Promise<void> {
  const progress = createProgress({
    write: (text) => void terminal.stderr.write(text),
    isTTY: terminal.isTTY,
    columns: terminal.columns ?? 80,
  });
  try {
    await using kit = await openKit({
      connector,
      cwd: terminal.cwd,
      kind: options.target ?? "worker",
      profiles: options.profile ?? defaultProfiles,
      rules: options.rules ?? [],
      seed: options.seed ?? 1,
      isExhaustive: options.exhaustive === true,
      processes: runsAtOnce,
      budgetMs: budgetFor(connector, options),
      network: await loadNetworkSettings(terminal.cwd, options.settings),
      command: commandOf(connector, options),
      fixtures: options.fixtures,
      file: options.file,
      signal: terminal.signal,
      onStart: (rules) => progress.started(rules.length),
      onFinished: (report) => progress.finished(report),
    });
    const report = await kit.run();
    progress.end();
    await show(report, options.report ?? "text", options.out, terminal);
    terminal.exitCode = terminal.signal.aborted ? interruptedExit : verdictExit[report.verdict];
  } catch (error) {
    if (error instanceof UnusableError) throw new UsageError(error.message);
    throw error;
  }
}

async function show(
  report: ConformanceReport,
  form: Form,
  file: string | undefined,
  { out, cwd, columns, isTTY }: Terminal,
): Promise<void> {
  if (file !== undefined) {
    await writeFile(resolve(cwd, file), forms[form](report)).catch(() => {
      throw new UsageError(`the report cannot be written to "${printable(file)}"`);
    });
  }
  if (file === undefined && form !== "text") return out.write(forms[form](report));
  await out.write(renderText(report, { color: isTTY, columns: isTTY ? (columns ?? 100) : 120 }));
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** An image that needs longer is one whose runs take seconds; what it leaves out is listed. */
const imageBudgetMs = 600_000;

/** The time for all rules; undefined = as long as they take. */
export function budgetFor(
  connector: string,
  { budget, rules, exhaustive }: Pick<CommandFlags, "budget" | "rules" | "exhaustive">,
): number | undefined {
  if (budget !== undefined) return budget === 0 ? undefined : budget;
  const isAsked = rules !== undefined || exhaustive === true;
  return connector.startsWith("image:") && !isAsked ? imageBudgetMs : undefined;
}

/** @throws UsageError */
export function toBudget(text: string): number {
  if (text === "none" || text === "0") return 0;
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([smh])$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(
    `--budget "${printable(text)}" is no time: give a whole number with s, m or h, such as 5m, or none`,
  );
}

const toList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");

const toProfiles = (text: string): readonly Profile[] =>
  toList(text).map(oneOf("profile", profiles));

/** The same run again; the report adds the rule and the seed. */
function commandOf(connector: string, options: CommandFlags): string {
  const flags = (["fixtures", "file", "target", "settings"] as const).flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name} ${quoted(value)}`];
  });
  return ["svc conformance", quoted(connector), ...flags].join(" ");
}

/** The text as one word of a shell. */
const quoted = (text: string) =>
  /^[\w./:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
