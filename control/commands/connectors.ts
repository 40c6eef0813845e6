/**
 * `svc connectors enable|disable <id>`: whether new sources may use a connector. The list itself is
 * the runtime's.
 */
import { type CommandBuilder, listConnectors } from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { addInstanceOptions, openOperator } from "./instance.ts";

export const buildConnectors: CommandBuilder = (command, terminal) => {
  command.action(() => listConnectors(terminal));
  for (const verb of ["enable", "disable"] as const)
    addInstanceOptions(command.command(verb))
      .description(verb === "enable" ? "open one for new sources" : "close one for new sources")
      .argument("<connector>", `the connector to ${verb}; svc connectors lists them`)
      .action(
        failingInOneLine(terminal, async (connector, options) => {
          await using operator = await openOperator(terminal, options);
          const { connector_id, enabled } = await operator.run("connector.set", {
            body: { connector, enabled: verb === "enable" },
          });
          await terminal.out.line(
            enabled
              ? `${connector_id} is enabled`
              : `${connector_id} is disabled: what exists stays, nothing new begins`,
          );
        }),
      );
};
