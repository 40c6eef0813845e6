import { type CatalogStream, streamLabel } from "../contract/catalog.ts";
import type { JsonObject } from "../contract/json.ts";
import { secretKeyword } from "../contract/spec.ts";
import { connectorArgument, openConnector } from "./connector.ts";
import {
  type ChosenCursors,
  cursorOf,
  describeProposal,
  requireStreams,
  takeCursors,
} from "./cursors.ts";
import { exitCode } from "./exit.ts";
import { readConfig } from "./files.ts";
import { addHostOptions, addTrialOptions } from "./options.ts";
import type { CommandBuilder } from "./program.ts";
import { formatTable } from "./table.ts";
import { printable, UsageError } from "./usage.ts";

/** `svc spec <connector>`: the settings that it asks for. */
export const buildSpec: CommandBuilder = (command, terminal) => {
  addHostOptions(command)
    .argument("<connector>", connectorArgument)
    .action(async (name, options) => {
      await using opened = await openConnector(terminal, name, options);
      const { spec } = await opened.host.spec(opened.connector, { signal: terminal.signal });
      await terminal.out.line(formatTable(["setting", "", "what it is"], settingsOf(spec)));
    });
};

/** A row for each setting. */
function settingsOf(spec: JsonObject): string[][] {
  const { properties = {}, required = [] } = spec as {
    properties?: JsonObject;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const { title, description, [secretKeyword]: isSecret } = schema as JsonObject;
    const notes = [
      required.includes(name) ? "required" : "optional",
      ...(isSecret === true ? ["secret"] : []),
    ];
    return [name, notes.join(", "), String(title ?? description ?? "")];
  });
}

/** `svc check <connector> --config f`: tells whether the configuration works. 1: it does not. */
export const buildCheck: CommandBuilder = (command, terminal) => {
  addTrialOptions(command)
    .argument("<connector>", connectorArgument)
    .addHelpText("after", "\nExample: svc check postgres --config my-db.yaml")
    .action(async (name, options) => {
      const path = configPath(options.config, "check");
      const { config } = takeCursors(await readConfig(path, terminal.cwd));
      await using opened = await openConnector(terminal, name, options);
      const result = await opened.host.check(opened.connector, config, { signal: terminal.signal });
      if (result.status === "succeeded") return terminal.out.line("The configuration works.");
      const { code, message } = result.error;
      terminal.exitCode = code === "CONFIG_INVALID" ? exitCode.usage : exitCode.failed;
      await terminal.err.line(`svc: ${printable(message, 500)} (${code})`);
    });
};

/** `svc discover <connector> --config f`: the streams that can be read. */
export const buildDiscover: CommandBuilder = (command, terminal) => {
  addTrialOptions(command)
    .argument("<connector>", connectorArgument)
    .addHelpText("after", "\nExample: svc discover postgres --config my-db.yaml")
    .action(async (name, options) => {
      const path = configPath(options.config, "discover");
      const { config, cursors } = takeCursors(await readConfig(path, terminal.cwd));
      await using opened = await openConnector(terminal, name, options);
      const { host, connector } = opened;
      const streams = await host.discover(connector, config, { signal: terminal.signal });
      requireStreams(streams, cursors);
      const rows = streams.map((stream) => [
        streamLabel(stream),
        String(Object.keys((stream.json_schema.properties ?? {}) as object).length),
        stream.source_defined_primary_key.map((path) => path.join(".")).join(", "),
        stream.supported_sync_modes.join(", "),
        cursorText(stream, cursors),
      ]);
      await terminal.out.line(
        formatTable(["stream", "fields", "primary key", "sync modes", "cursor"], rows),
      );
    });
};

/** The cursor of a stream: its own, the one that the configuration chooses, or what could be chosen. */
function cursorText(stream: CatalogStream, cursors: ChosenCursors): string {
  const chosen = cursorOf(stream, cursors);
  if (chosen !== undefined) return chosen;
  if (stream.default_cursor_field.length > 0) return stream.default_cursor_field.join(".");
  const [best] = stream.proposed_cursors ?? [];
  return best ? `could be ${describeProposal(best)}` : "";
}

function configPath(path: string | undefined, verb: string): string {
  if (path === undefined) throw new UsageError(`${verb} needs --config FILE`);
  return path;
}
