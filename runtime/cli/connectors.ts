import type { BuiltInConnector } from "../host/cards.ts";
import { builtInDestinations, builtInSources } from "../host/registry.ts";
import { exitCode } from "./exit.ts";
import { parseOptions } from "./options.ts";
import { formatTable } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { printable, UsageError } from "./usage.ts";

export const connectorsFlags = { help: { help: "show this" } } as const;

/** `svc connectors`: the connectors that come with svc. */
export async function connectors(args: readonly string[], { out }: Terminal): Promise<number> {
  const [unexpected] = parseOptions(args, connectorsFlags).positionals;
  if (unexpected !== undefined) throw new UsageError(`unexpected "${printable(unexpected)}"`);
  const rowOf = ({ name, id, title, summary }: BuiltInConnector) => [
    name,
    id,
    `${title}: ${summary}`,
  ];
  await out.line(formatTable(["source", "id", "what it reads"], builtInSources.map(rowOf)));
  await out.line(
    `\n${formatTable(["destination", "id", "where rows go"], builtInDestinations.map(rowOf))}`,
  );
  return exitCode.ok;
}
