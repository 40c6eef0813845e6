import type { Manifest } from "../contract/catalog.ts";
import { builtInDestinations, builtInSources } from "../host/registry.ts";
import { answer, jsonFlag } from "./answer.ts";
import { writeConfig } from "./config-file.ts";
import { connectorArgument, type HostValues, openConnector } from "./connector.ts";
import { sandboxFlag } from "./options.ts";
import type { CommandBuilder } from "./program.ts";
import { settingsOf } from "./spec-settings.ts";
import { formatSettings } from "./spec-text.ts";
import type { Terminal } from "./terminal.ts";
import { UsageError } from "./usage.ts";

/** `svc spec <connector>`: the settings that it asks for, of a destination too. */
export const buildSpec: CommandBuilder = (command, terminal) => {
  command
    .option(...sandboxFlag())
    .argument("[connector]", `${connectorArgument}; ${destinationArgument}`)
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc spec postgres")
    .action(async (name, { json, ...options }) => {
      if (name === undefined)
        throw new UsageError(`name ${connectorArgument}; ${destinationArgument}`);
      const { columns = 80 } = terminal;
      const manifest = await manifestOf(terminal, name, options);
      const { id, version, title, documentationUrl, spec } = manifest;
      const document = { id, version, title, documentation_url: documentationUrl, spec };
      await answer(terminal, json, document, () => formatSettings(settingsOf(spec), columns));
    });
};

const destinationArgument = `or a destination: ${builtInDestinations.map(({ name }) => name).join(", ")}`;

interface Described extends Pick<Manifest, "id" | "version" | "title" | "spec"> {
  readonly documentationUrl?: string | undefined;
}

/** A destination that comes with svc runs in this process; every other connector in a worker. */
async function manifestOf(
  terminal: Terminal,
  wanted: string,
  options: HostValues,
): Promise<Described> {
  const destination = builtInDestinations.find(({ name, id }) => name === wanted || id === wanted);
  if (destination) {
    const { createDestinationHost } = await import("../destination/destination-host.ts");
    return await createDestinationHost({ clock: terminal.clock }).manifest(destination.reference);
  }
  await using opened = await openConnector(terminal, wanted, options);
  return await opened.host.spec(opened.connector, { signal: terminal.signal });
}

/** `svc config <connector>`: a first configuration, with comments. */
export const buildConfig: CommandBuilder = (command, terminal) => {
  command
    .option(...sandboxFlag())
    .argument("<connector>", connectorArgument)
    .addHelpText("after", "\nExample: svc config postgres > my-db.yaml")
    .action(async (name, options) => {
      await using opened = await openConnector(terminal, name, options);
      const { signal } = terminal;
      const { id, title, spec, egress } = await opened.host.spec(opened.connector, { signal });
      const takesCursors = egress.kind !== "http";
      const builtIn = builtInSources.find((one) => one.id === id);
      const fileStem = builtIn?.name ?? id.replace(/^conn_/, "");
      const connector = { name, title, fileStem, takesCursors };
      await terminal.out.write(writeConfig(connector, settingsOf(spec)));
    });
};
