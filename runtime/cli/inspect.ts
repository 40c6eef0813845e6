import { type CatalogStream, streamLabel } from "../contract/catalog.ts";
import { answer, jsonFlag, toErrorDocument } from "./answer.ts";
import { connectorArgument, openConnector, requireConfigured } from "./connector.ts";
import { type ChosenCursors, cursorOf, describeProposal, requireStreams } from "./cursors.ts";
import { exitCode } from "./exit.ts";
import { readConfig } from "./files.ts";
import { addTrialOptions } from "./options.ts";
import { requireChosen, takeChoices } from "./parts.ts";
import type { CommandBuilder } from "./program.ts";
import { formatCount } from "./progress.ts";
import { formatTable } from "./table.ts";
import { printable } from "./usage.ts";
import { collectWarnings } from "./warnings.ts";

/** `svc check <connector> --config f`: tells whether the configuration works. 1: it does not. */
export const buildCheck: CommandBuilder = (command, terminal) => {
  addTrialOptions(command)
    .usage("[options] <connector> --config FILE")
    .argument("[connector]", connectorArgument)
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc check postgres --config my-db.yaml")
    .action(async (wanted, { json, ...options }) => {
      const { name, path } = requireConfigured("check", wanted, options.config, terminal);
      const { config } = takeChoices(await readConfig(path, terminal.cwd));
      await using opened = await openConnector(terminal, name, options);
      const result = await opened.host.check(opened.connector, config, { signal: terminal.signal });
      const { status } = result;
      if (result.status === "succeeded")
        return answer(terminal, json, { status }, () => "The configuration works.");
      const { code, message } = result.error;
      if (json)
        await answer(terminal, json, { status, error: toErrorDocument(result.error) }, () => "");
      terminal.exitCode = code === "CONFIG_INVALID" ? exitCode.usage : exitCode.failed;
      await terminal.err.line(`svc: ${printable(message, 500)} (${code})`);
    });
};

/** `svc discover <connector> --config f`: the streams that can be read. */
export const buildDiscover: CommandBuilder = (command, terminal) => {
  addTrialOptions(command)
    .usage("[options] <connector> --config FILE")
    .argument("[connector]", connectorArgument)
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc discover postgres --config my-db.yaml")
    .action(async (wanted, { json, ...options }) => {
      const { name, path } = requireConfigured("discover", wanted, options.config, terminal);
      const { config, cursors, parts } = takeChoices(await readConfig(path, terminal.cwd));
      await using opened = await openConnector(terminal, name, options);
      const { host, connector } = opened;
      const warnings = collectWarnings();
      const streams = await host.discover(connector, config, {
        signal: terminal.signal,
        onEvent: warnings.event,
      });
      for (const line of warnings.lines()) await terminal.err.line(line);
      requireStreams(streams, cursors.keys());
      requireChosen(streams, parts);
      const isEstimated = streams.some(({ estimated_rows: rows }) => rows !== undefined);
      const rowOf = (stream: CatalogStream) => [
        streamLabel(stream),
        String(Object.keys((stream.json_schema.properties ?? {}) as object).length),
        stream.source_defined_primary_key.map((path) => path.join(".")).join(", "),
        stream.supported_sync_modes.join(", "),
        cursorText(stream, cursors),
        ...(isEstimated ? [formatEstimate(stream)] : []),
      ];
      const headings = ["stream", "fields", "primary key", "sync modes", "cursor"];
      if (isEstimated) headings.push("rows, about");
      await answer(terminal, json, { streams }, () => formatTable(headings, streams.map(rowOf)));
    });
};

/**
 * The cursor of a stream: its own, the one that the configuration chooses, or what could be chosen.
 */
function cursorText(stream: CatalogStream, cursors: ChosenCursors): string {
  const chosen = cursorOf(stream, cursors);
  if (chosen !== undefined) return chosen;
  if (stream.default_cursor_field.length > 0) return stream.default_cursor_field.join(".");
  const [best] = stream.proposed_cursors ?? [];
  return best ? `could be ${describeProposal(best)}` : "";
}

const formatEstimate = ({ estimated_rows: rows }: CatalogStream) =>
  rows === undefined ? "" : formatCount(rows);
