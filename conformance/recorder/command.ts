/** `svc record <connector> --config FILE`: makes recordings from a live account. */

import { join, relative, resolve } from "node:path";
import {
  ConnectorError,
  createHost,
  exitCode,
  type Flags,
  findConnector,
  loadNetworkSettings,
  parseOptions,
  printable,
  readConfig,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { UnusableError } from "../contract/unusable.ts";
import { loadSettings, settingsFileName } from "../target/settings.ts";
import { recordDatabase } from "./database.ts";
import { type RecordOptions, type RecordSummary, record } from "./record.ts";
import { RecordingError } from "./recording-error.ts";

export const recordFlags = {
  config: {
    value: "FILE",
    help: 'settings of a live account, JSON or YAML; {"$file": "path"} reads a secret from a file; none for connectors of a database, which stands in the seed',
  },
  fixtures: { value: "DIR", help: "where the recordings go; default ./fixtures" },
  streams: { value: "A,B", help: "streams to record; default all" },
  "provider-version": {
    value: "V",
    help: "version of the provider's API, for people: v8, 2026-01; default unknown",
  },
  seed: { value: "N", help: "of the pseudonyms of people; default 1" },
  settings: {
    value: "FILE",
    help: "operator settings; default svc.config.yaml here, if there is one",
  },
  help: { help: "show this" },
} as const satisfies Flags;

/**
 * Gives the exit code: 1 when nothing was written because a verb failed, the recording cannot be
 * replayed, or something secret was left.
 * @throws UsageError
 */
export async function recordCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, recordFlags);
  const [wanted, ...rest] = positionals;
  if (wanted === undefined)
    throw new UsageError("name a connector: a name, the path of a module, or image:NAME");
  if (rest[0] !== undefined)
    throw new UsageError(`unexpected "${printable(rest[0])}"; streams are named by --streams a,b`);
  const { cwd, out, err } = terminal;
  const folder = resolve(cwd, values.fixtures ?? "fixtures");
  try {
    if (values.config === undefined) {
      if (isImage(wanted) || !(await speaksToDatabase(wanted, cwd)))
        throw new UsageError("record needs --config FILE");
      const written = await recordDatabase({
        connector: wanted,
        cwd,
        ...(values.fixtures === undefined ? {} : { folder }),
      });
      await out.write(
        `baseline.yaml: what it publishes of the seed, in ${printable(relative(cwd, written.folder) || ".")}\n`,
      );
      return exitCode.ok;
    }
    const summary = await record({
      connector: isImage(wanted) ? await imageOf(wanted, cwd) : connectorOf(wanted, cwd),
      config: await readConfig(values.config, cwd),
      settings: await loadNetworkSettings(cwd, values.settings),
      createHost: terminal.createHost,
      signal: terminal.signal,
      folder,
      providerApiVersion: values["provider-version"] ?? "unknown",
      seed: wholeNumber("seed", values.seed ?? "1", 0, 999_999_999),
      ...(values.streams === undefined ? {} : { streams: values.streams.split(",") }),
    });
    await out.write(report(summary, relative(cwd, folder) || "."));
    return exitCode.ok;
  } catch (error) {
    if (error instanceof UnusableError) throw new UsageError(error.message);
    if (!(error instanceof RecordingError)) throw error;
    await err.line(`svc: ${printable(error.message, 1_000)}`);
    return exitCode.failed;
  }
}

/** Its manifest says so: it needs no account, but the seed beside its conformance.yaml. */
async function speaksToDatabase(wanted: string, cwd: string): Promise<boolean> {
  await using host = createHost({});
  return (await host.spec(connectorOf(wanted, cwd))).egress.kind === "postgres";
}

const imagePrefix = "image:";
const isImage = (wanted: string) => wanted.startsWith(imagePrefix);

/** What it needs besides stands in the conformance.yaml here. */
async function imageOf(wanted: string, cwd: string): Promise<RecordOptions["connector"]> {
  const { container } = await loadSettings(join(cwd, settingsFileName));
  return { image: wanted.slice(imagePrefix.length), ...container };
}

function connectorOf(wanted: string, cwd: string) {
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    throw new UsageError(
      `there is no connector "${printable(wanted)}"; \`svc connectors\` lists those that come with svc`,
    );
  }
}

function report({ files, redactions, notices }: RecordSummary, folder: string): string {
  const lines = files.map(({ name, interactionCount, recordCount }) => {
    const rows = recordCount === undefined ? "" : `, ${recordCount} rows`;
    return `${printable(name)}: ${interactionCount} requests${rows}`;
  });
  const replaced = redactions.length > 0 ? redactions.join(", ") : "nothing";
  const last = `Replaced: ${replaced}. Look through ${printable(folder)} before you publish it: free text may speak of people.`;
  return `${[...lines, ...notices, last].join("\n")}\n`;
}
