/** `svc record <connector> --config FILE`: makes recordings from a live account. */

import { join, relative, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  addSettingsOption,
  allowLocalFlag,
  type CommandBuilder,
  ConnectorError,
  createHost,
  exitCode,
  findConnector,
  type JsonObject,
  loadNetworkSettings,
  noConnector,
  printable,
  readConfig,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { UnusableError } from "../contract/unusable.ts";
import { folderOf, loadSettings, settingsFileName } from "../target/settings.ts";
import { defaultLimits } from "./allowance.ts";
import { recordDatabase } from "./database.ts";
import { type RecordOptions, type RecordSummary, record } from "./record.ts";
import { RecordingError } from "./recording-error.ts";

export const buildRecord: CommandBuilder = (command, terminal) => {
  addSettingsOption(command)
    .argument(
      "<connector>",
      "a connector: a name, the path of a module or of a declarative manifest, or image:NAME",
    )
    .allowExcessArguments()
    .option(...allowLocalFlag)
    .option(
      "--config <FILE>",
      'settings of a live account, JSON or YAML; {"$file": "path"} reads a secret from a file; none for connectors of a database, which stands in the seed',
    )
    .option("--fixtures <DIR>", "where the recordings go; default ./fixtures")
    .option("--streams <A,B>", "streams to record; default all")
    .option(
      "--max-requests <N>",
      `of one stream, and ten times as many altogether; what asks for more is left out, and named; default ${defaultLimits.maxRequests}`,
      wholeNumber("max-requests", 1, 100_000),
    )
    .option(
      "--max-mb <MB>",
      `of the answers of one stream, and ten times as many altogether; default ${defaultLimits.maxBytes / 1_000_000}`,
      wholeNumber("max-mb", 1, 11),
    )
    .option(
      "--people <FIELDS>",
      "fields of answers whose text names people, besides those that say so (first_name): nickname,requester.name; their words are replaced",
    )
    .option(
      "--provider-version <V>",
      "version of the provider's API, for people: v8, 2026-01; default what the URLs name",
    )
    .option(
      "--seed <N>",
      "of the pseudonyms of people; default 1",
      wholeNumber("seed", 0, 999_999_999),
    )
    .addHelpText(
      "after",
      "\nExample: svc record ./tickets --config account.yaml --fixtures tickets/fixtures",
    )
    .action(async (connector, options, { args: [, unexpected] }) => {
      if (unexpected !== undefined)
        throw new UsageError(
          `unexpected "${printable(unexpected)}"; streams are named by --streams a,b`,
        );
      await recordAccount(connector, options, terminal);
    });
};

interface RecordCommandOptions {
  readonly config?: string | undefined;
  readonly fixtures?: string | undefined;
  readonly streams?: string | undefined;
  readonly maxRequests?: number | undefined;
  readonly maxMb?: number | undefined;
  readonly people?: string | undefined;
  readonly providerVersion?: string | undefined;
  readonly seed?: number | undefined;
  readonly settings?: string | undefined;
  readonly allowLocal?: true | undefined;
}

/**
 * Ends with 1 when nothing was written because a verb failed, the recording cannot be replayed, or
 * something secret was left.
 * @throws UsageError
 */
async function recordAccount(
  wanted: string,
  options: RecordCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { cwd, out, err } = terminal;
  const folder = resolve(cwd, options.fixtures ?? "fixtures");
  try {
    if (options.config === undefined) {
      if (isImage(wanted) || !(await speaksToDatabase(wanted, cwd)))
        throw new UsageError("record needs --config FILE");
      const written = await recordDatabase({
        connector: wanted,
        cwd,
        folder: options.fixtures === undefined ? undefined : folder,
      });
      return out.write(
        `baseline.yaml: what it publishes of the seed, in ${printable(relative(cwd, written.folder) || ".")}\n`,
      );
    }
    const config = await readConfig(options.config, cwd);
    const summary = await record({
      connector: isImage(wanted) ? await imageOf(wanted, cwd) : connectorOf(wanted, cwd),
      config,
      settings: await loadNetworkSettings(cwd, options.settings),
      allowLocal: options.allowLocal,
      createHost: terminal.createHost,
      signal: terminal.signal,
      folder,
      providerApiVersion: options.providerVersion,
      seed: options.seed ?? 1,
      streams: options.streams?.split(","),
      limits: {
        maxRequests: options.maxRequests ?? defaultLimits.maxRequests,
        maxBytes: options.maxMb === undefined ? defaultLimits.maxBytes : options.maxMb * 1_000_000,
      },
      people: options.people?.split(","),
    });
    const notices = [...summary.notices, ...(await otherSettings(wanted, config, cwd))];
    await out.write(report({ ...summary, notices }, relative(cwd, folder) || "."));
  } catch (error) {
    if (error instanceof UnusableError) throw new UsageError(error.message);
    if (!(error instanceof RecordingError)) throw error;
    terminal.exitCode = exitCode.failed;
    await err.line(`svc: ${printable(error.message, 1_000)}`);
  }
}

/** Its manifest says so: it needs no account, but the seed beside its conformance.yaml. */
async function speaksToDatabase(wanted: string, cwd: string): Promise<boolean> {
  await using host = createHost({});
  return (await host.spec(connectorOf(wanted, cwd))).egress.kind !== "http";
}

const imagePrefix = "image:";
const isImage = (wanted: string) => wanted.startsWith(imagePrefix);

/** The image with its hosts and files, which stand in the conformance.yaml here. */
async function imageOf(wanted: string, cwd: string): Promise<RecordOptions["connector"]> {
  const { container } = await loadSettings(join(cwd, settingsFileName));
  return { image: wanted.slice(imagePrefix.length), ...container };
}

/**
 * Settings that conformance.yaml has with another value than the recorded account: runs of the kit
 * ask for what was not recorded then. Names alone, since a value may be a secret.
 */
async function otherSettings(
  wanted: string,
  config: JsonObject,
  cwd: string,
): Promise<readonly string[]> {
  const folder = isImage(wanted) ? cwd : folderOf(connectorOf(wanted, cwd));
  const tried = await loadSettings(join(folder, settingsFileName));
  const others = Object.entries(tried.config).filter(
    ([name, value]) =>
      !JSON.stringify(value).includes("{{canary}}") && !isDeepStrictEqual(config[name], value),
  );
  if (others.length === 0) return [];
  const names = others.map(([name]) => printable(name)).join(", ");
  return [
    `${settingsFileName} has another value for ${names} than the settings that were recorded: the kit asks as it says, and finds no recording. Make them the same, and record again.`,
  ];
}

function connectorOf(wanted: string, cwd: string) {
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    throw new UsageError(noConnector(wanted));
  }
}

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function report({ files, redactions, notices }: RecordSummary, folder: string): string {
  const lines = files.map(({ name, interactionCount, recordCount }) => {
    const rows = recordCount === undefined ? "" : `, ${counted(recordCount, "row")}`;
    return `${printable(name)}: ${counted(interactionCount, "request")}${rows}`;
  });
  const replaced = redactions.length > 0 ? redactions.join(", ") : "nothing";
  const last = `Replaced: ${replaced}. Look through ${printable(folder)} before you publish it: free text may speak of people. --people FIELDS replaces the words of fields that you name.`;
  return `${[...lines, ...notices, last].join("\n")}\n`;
}
