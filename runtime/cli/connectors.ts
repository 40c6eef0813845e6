import { builtInConnectors } from "../registry.ts";
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
  const rows = builtInConnectors.map(({ name, id, title }) => [name, id, title]);
  await out.line(formatTable(["name", "id", "what it reads"], rows));
  return exitCode.ok;
}
