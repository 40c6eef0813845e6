/** `svc conformance <connector>`: tries the rules, shows what was found, exits 0, 1 or 2. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  exitCode,
  type Flags,
  loadNetworkSettings,
  oneOf,
  parseOptions,
  printable,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import type { ConformanceReport } from "./contract/report.ts";
import { type Profile, profiles } from "./contract/rule.ts";
import { UnusableError } from "./contract/unusable.ts";
import { openKit } from "./kit.ts";
import { type Form, forms } from "./report/forms.ts";
import { createProgress } from "./report/progress.ts";
import { renderText } from "./report/text.ts";

export const conformanceFlags = {
  fixtures: { value: "DIR", help: "recordings; default as conformance.yaml says" },
  file: { value: "FILE", help: "conformance.yaml of the connector; default beside it" },
  profile: { value: "NAMES", help: `some of ${profiles.join(",")}; default all but scale` },
  rules: { value: "IDS", help: "only these rules: LEAK-01,STATE-01" },
  seed: { value: "N", help: "chooses what is sampled; default 1" },
  exhaustive: { help: "every case of every sweep instead of a sample" },
  target: {
    value: "KIND",
    help: "worker (sandboxed, default) or module (this process: quicker, sees more)",
  },
  report: { value: "FORM", help: `${Object.keys(forms).join(", ")}; default text` },
  out: { value: "FILE", help: "write the report there; a short one is shown all the same" },
  settings: {
    value: "FILE",
    help: "operator settings; default svc.config.yaml here, if there is one",
  },
  help: { help: "show this" },
} as const satisfies Flags;

const defaultProfiles: readonly Profile[] = ["core", "resumable", "resilient", "oauth"];
const formNames = Object.keys(forms) as Form[];
const verdictExit = {
  passed: exitCode.ok,
  failed: exitCode.failed,
  unusable: exitCode.usage,
} as const;

/** @throws UsageError */
export async function conformanceCommand(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { values, positionals } = parseOptions(args, conformanceFlags);
  const [connector, ...rest] = positionals;
  if (connector === undefined)
    throw new UsageError(
      "name a connector: a name, the path of a module, destination:PATH, program:PATH or image:NAME",
    );
  if (rest[0] !== undefined)
    throw new UsageError(`unexpected "${printable(rest[0])}" after ${printable(connector)}`);
  const form = oneOf("report", values.report ?? "text", formNames);
  const progress = createProgress({
    write: (text) => void terminal.stderr.write(text),
    isTTY: terminal.isTTY,
    columns: terminal.columns ?? 80,
  });
  try {
    await using kit = await openKit({
      connector,
      cwd: terminal.cwd,
      kind: oneOf("target", values.target ?? "worker", ["worker", "module"] as const),
      profiles: list(values.profile)
        .map((name) => oneOf("profile", name, profiles))
        .concat(values.profile === undefined ? defaultProfiles : []),
      rules: list(values.rules),
      seed: wholeNumber("seed", values.seed ?? "1", 0, 999_999_999),
      isExhaustive: values.exhaustive === true,
      network: await loadNetworkSettings(terminal.cwd, values.settings),
      command: commandOf(connector, values),
      ...(values.fixtures === undefined ? {} : { fixtures: values.fixtures }),
      ...(values.file === undefined ? {} : { file: values.file }),
      onStart: (rules) => progress.started(rules.length),
      onFinished: (report) => progress.finished(report),
    });
    const report = await kit.run();
    progress.end();
    await show(report, form, values.out, terminal);
    return verdictExit[report.verdict];
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

const list = (text: string | undefined) =>
  text === undefined
    ? []
    : text
        .split(",")
        .map((one) => one.trim())
        .filter((one) => one !== "");

/** The same run again; the report adds the rule and the seed. */
function commandOf(
  connector: string,
  values: { readonly [name: string]: string | boolean | undefined },
): string {
  const flags = ["fixtures", "file", "target", "settings"].flatMap((name) =>
    typeof values[name] === "string" ? [`--${name} ${quoted(values[name])}`] : [],
  );
  return ["svc conformance", quoted(connector), ...flags].join(" ");
}

/** For a shell. */
const quoted = (text: string) =>
  /^[\w./:@=,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
