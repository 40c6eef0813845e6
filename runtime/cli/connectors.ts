import type { BuiltInConnector } from "../host/cards.ts";
import { builtInDestinations, builtInSources } from "../host/registry.ts";
import type { CommandBuilder } from "./program.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** `svc connectors`: the connectors that come with svc. */
export const buildConnectors: CommandBuilder = (command, terminal) => {
  command.action(() => listConnectors(terminal));
};

export async function listConnectors({ out }: Pick<Terminal, "out">): Promise<void> {
  const rowOf = ({ name, id, title, summary }: BuiltInConnector) => [
    name,
    id,
    `${title}: ${summary}`,
  ];
  await out.line(formatTable(["source", "id", "what it reads"], builtInSources.map(rowOf)));
  await out.line(
    `\n${formatTable(["destination", "id", "where rows go"], builtInDestinations.map(rowOf))}`,
  );
}
