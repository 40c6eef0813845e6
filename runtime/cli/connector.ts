import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference, Host, HostOptions, SandboxLevel } from "../contract/host.ts";
import { builtInSources, findConnector } from "../host/registry.ts";
import { type hostFlags, type Options, oneOf, wholeNumber } from "./options.ts";
import { loadSettings, ownNetworks } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

const sandboxLevels = [
  "process",
  "bubblewrap",
  "inline",
] as const satisfies readonly SandboxLevel[];

/** A connector and the host that its verbs run in. */
export interface OpenConnector extends AsyncDisposable {
  readonly host: Host;
  readonly connector: ConnectorReference;
  /** `conn_…` */
  readonly id: string;
}

/**
 * Opens the connector that the command line names.
 * @throws UsageError for an unknown name, wrong flags or settings; CONNECTOR_INVALID and what else
 * loading may throw
 */
export async function openConnector(
  terminal: Terminal,
  wanted: string | undefined,
  values: Options<typeof hostFlags>["values"],
): Promise<OpenConnector> {
  const connector = named(wanted, terminal.cwd);
  const settings = await loadSettings(terminal.cwd, values.settings);
  const options: HostOptions = {
    clock: terminal.clock,
    settings,
    ...(values.sandbox === undefined
      ? {}
      : { sandbox: oneOf("sandbox", values.sandbox, sandboxLevels) }),
    ...(values.memory === undefined
      ? {}
      : { limits: { memoryMb: wholeNumber("memory", values.memory, 32, 65_536) } }),
  };
  const builtIn = builtInSources.find(({ name }) => name === connector.name);
  const { id, egress } = builtIn ?? (await loadFacts(terminal, connector, options));
  const allowNetworks = [...settings.allowNetworks, ...(egress === "postgres" ? ownNetworks : [])];
  const host = terminal.createHost({ ...options, settings: { ...settings, allowNetworks } });
  return { host, connector, id, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

/** What has to be known of a connector before the host is made that runs its verbs. */
async function loadFacts(terminal: Terminal, connector: ConnectorReference, options: HostOptions) {
  await using host = terminal.createHost(options);
  const { id, egress } = await host.spec(connector, { signal: terminal.signal });
  return { id, egress: egress.kind };
}

function named(wanted: string | undefined, cwd: string): ConnectorReference {
  const names = builtInSources.map(({ name }) => name);
  if (wanted === undefined)
    throw new UsageError(`name a connector: ${names.join(", ")}, or the path of a module`);
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    throw new UsageError(
      `there is no connector "${printable(wanted)}"${suggestion(wanted, names) || "; `svc connectors` lists them"}`,
    );
  }
}
