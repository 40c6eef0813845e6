import { streamLabel } from "../contract/catalog.ts";
import type { JsonObject } from "../contract/json.ts";
import { secretKeyword } from "../contract/spec.ts";
import { openConnector } from "./connector.ts";
import { exitCode } from "./exit.ts";
import { readConfig } from "./files.ts";
import { configFlag, hostFlags, parseOptions } from "./options.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { printable, UsageError } from "./usage.ts";

export const specFlags = hostFlags;
export const checkFlags = { ...configFlag, ...hostFlags } as const;
export const discoverFlags = checkFlags;

/** `svc spec <connector>`: the settings that it asks for. */
export async function spec(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, specFlags);
  await using opened = await openConnector(terminal, onlyName(positionals), values);
  const { spec: asked } = await opened.host.spec(opened.connector, { signal: terminal.signal });
  const { properties = {}, required = [] } = asked as {
    properties?: JsonObject;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, schema]) => {
    const { title, description, [secretKeyword]: isSecret } = schema as JsonObject;
    const notes = [
      required.includes(name) ? "required" : "optional",
      ...(isSecret === true ? ["secret"] : []),
    ];
    return [name, notes.join(", "), String(title ?? description ?? "")];
  });
  await terminal.out.line(formatTable(["setting", "", "what it is"], rows));
  return exitCode.ok;
}

/**
 * `svc check <connector> --config f`: whether the configuration works. Exit code 1 when it does
 * not.
 */
export async function check(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, checkFlags);
  const config = await readConfig(configPath(values.config, "check"), terminal.cwd);
  await using opened = await openConnector(terminal, onlyName(positionals), values);
  const result = await opened.host.check(opened.connector, config, { signal: terminal.signal });
  if (result.status === "succeeded") {
    await terminal.out.line("The configuration works.");
    return exitCode.ok;
  }
  await terminal.err.line(`svc: ${printable(result.error.message, 500)} (${result.error.code})`);
  return result.error.code === "CONFIG_INVALID" ? exitCode.usage : exitCode.failed;
}

/** `svc discover <connector> --config f`: the streams that can be read. */
export async function discover(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, discoverFlags);
  const config = await readConfig(configPath(values.config, "discover"), terminal.cwd);
  await using opened = await openConnector(terminal, onlyName(positionals), values);
  const streams = await opened.host.discover(opened.connector, config, { signal: terminal.signal });
  const rows = streams.map((stream) => [
    streamLabel(stream),
    String(Object.keys((stream.json_schema.properties ?? {}) as object).length),
    stream.source_defined_primary_key.map((path) => path.join(".")).join(", "),
    stream.supported_sync_modes.join(", "),
  ]);
  await terminal.out.line(formatTable(["stream", "fields", "primary key", "sync modes"], rows));
  return exitCode.ok;
}

function onlyName([wanted, unexpected]: readonly string[]): string | undefined {
  if (unexpected !== undefined) throw new UsageError(`unexpected "${printable(unexpected)}"`);
  return wanted;
}

function configPath(path: string | undefined, verb: string): string {
  if (path === undefined) throw new UsageError(`${verb} needs --config FILE`);
  return path;
}
