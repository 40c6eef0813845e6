import type { BuiltInConnector } from "../host/cards.ts";
import { builtInDestinations, builtInSources } from "../host/registry.ts";
import { answer, jsonFlag } from "./answer.ts";
import type { CommandBuilder } from "./program.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** `svc connectors`: the connectors that come with svc. */
export const buildConnectors: CommandBuilder = (command, terminal) => {
  command.option(...jsonFlag).action(({ json }) => listConnectors(terminal, json));
};

export async function listConnectors(
  terminal: Pick<Terminal, "out">,
  isJson?: boolean,
): Promise<void> {
  const document = {
    sources: builtInSources.map(toEntry),
    destinations: builtInDestinations.map(toEntry),
  };
  await answer(terminal, isJson, document, () => {
    const rowsOf = (entries: readonly Entry[]) =>
      entries.map(({ name, id, title, summary }) => [name, id, `${title}: ${summary}`]);
    return [
      formatTable(["source", "id", "what it reads"], rowsOf(document.sources)),
      formatTable(["destination", "id", "where rows go"], rowsOf(document.destinations)),
    ].join("\n\n");
  });
}

const toEntry = ({ name, id, title, summary, stage }: BuiltInConnector) => ({
  name,
  id,
  title,
  summary,
  stage,
});
type Entry = ReturnType<typeof toEntry>;
