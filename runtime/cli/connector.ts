import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference, Host, HostOptions, SandboxLevel } from "../contract/host.ts";
import { builtInSources, findConnector } from "../host/registry.ts";
import { loadSettings, ownNetworks } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** The argument that names a connector, as the help and a message without one describe it. */
export const connectorArgument = `a connector: ${builtInSources.map(({ name }) => name).join(", ")}, or the path of a module`;

/** Values of the flags of every command that runs a connector. */
export interface HostValues {
  readonly settings?: string | undefined;
  readonly sandbox?: SandboxLevel | undefined;
  readonly memory?: number | undefined;
}

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
  wanted: string,
  { settings: file, sandbox, memory }: HostValues,
): Promise<OpenConnector> {
  const connector = named(wanted, terminal.cwd);
  const settings = await loadSettings(terminal.cwd, file);
  const options: HostOptions = {
    clock: terminal.clock,
    settings,
    sandbox,
    limits: memory === undefined ? {} : { memoryMb: memory },
  };
  const builtIn = builtInSources.find(({ name }) => name === connector.name);
  const { id, egress } = builtIn ?? (await describe(terminal, connector, options));
  const allowNetworks = [...settings.allowNetworks, ...(egress === "postgres" ? ownNetworks : [])];
  const host = await terminal.createHost({ ...options, settings: { ...settings, allowNetworks } });
  return { host, connector, id, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() };
}

/** Asks a connector from elsewhere for what the host that runs its verbs is made with. */
async function describe(terminal: Terminal, connector: ConnectorReference, options: HostOptions) {
  await using host = await terminal.createHost(options);
  const { id, egress } = await host.spec(connector, { signal: terminal.signal });
  return { id, egress: egress.kind };
}

function named(wanted: string, cwd: string): ConnectorReference {
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const names = builtInSources.map(({ name }) => name);
    throw new UsageError(
      `there is no connector "${printable(wanted)}"${suggestion(wanted, names) || "; `svc connectors` lists them"}`,
    );
  }
}
