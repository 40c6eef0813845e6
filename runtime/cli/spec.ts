import { builtInSources } from "../host/registry.ts";
import { answer, jsonFlag } from "./answer.ts";
import { writeConfig } from "./config-file.ts";
import { connectorArgument, openConnector } from "./connector.ts";
import { sandboxFlag } from "./options.ts";
import type { CommandBuilder } from "./program.ts";
import { settingsOf } from "./spec-settings.ts";
import { formatSettings } from "./spec-text.ts";

/** `svc spec <connector>`: the settings that it asks for. */
export const buildSpec: CommandBuilder = (command, terminal) => {
  command
    .option(...sandboxFlag())
    .argument("<connector>", connectorArgument)
    .option(...jsonFlag)
    .addHelpText("after", "\nExample: svc spec postgres")
    .action(async (name, { json, ...options }) => {
      await using opened = await openConnector(terminal, name, options);
      const { signal, columns = 80 } = terminal;
      const manifest = await opened.host.spec(opened.connector, { signal });
      const { id, version, title, documentationUrl, spec } = manifest;
      const document = { id, version, title, documentation_url: documentationUrl, spec };
      await answer(terminal, json, document, () => formatSettings(settingsOf(spec), columns));
    });
};

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
