/**
 * `svc connectors enable|disable <id>`: whether new sources may use a connector. The list itself is
 * the runtime's.
 */
import {
  exitCode,
  type Flags,
  listConnectors,
  connectorsFlags as listFlags,
  parseOptions,
  printable,
  suggestion,
  UsageError,
} from "svc-connectors/host";
import { failingInOneLine } from "./failures.ts";
import { instanceFlags, openAdmin } from "./instance.ts";

export const connectorsFlags = { ...listFlags, ...instanceFlags } as const satisfies Flags;

const verbs = ["enable", "disable"] as const;

/** @throws UsageError */
export const connectorsCommand = failingInOneLine(async (args, terminal) => {
  const { values, positionals } = parseOptions(args, connectorsFlags);
  const [verb, connector, unexpected] = positionals;
  if (verb === undefined) return listConnectors([], terminal);
  const wanted = verbs.find((one) => one === verb);
  if (!wanted) throw new UsageError(`unexpected "${printable(verb)}"${suggestion(verb, verbs)}`);
  if (connector === undefined)
    throw new UsageError(`name the connector to ${wanted}; svc connectors lists them`);
  if (unexpected !== undefined) throw new UsageError(`unexpected "${printable(unexpected)}"`);
  await using admin = await openAdmin(terminal, values);
  const { connector_id, enabled } = await admin.run("connector.set", {
    connector,
    enabled: wanted === "enable",
  });
  await terminal.out.line(
    enabled
      ? `${connector_id} is enabled`
      : `${connector_id} is disabled: what exists stays, nothing new begins`,
  );
  return exitCode.ok;
});
