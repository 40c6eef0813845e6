import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference, Host, SandboxLevel } from "../contract/host.ts";
import { builtInSources, findConnector } from "../host/registry.ts";
import { loadSettings, ownNetworks } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** The argument that names a connector, as the help and a message without one describe it. */
export const connectorArgument = `a connector: ${builtInSources.map(({ name }) => name).join(", ")}, the path of a module, or an installed package`;

/** Values of the flags of every command that runs a connector. */
export interface HostValues {
  readonly settings?: string | undefined;
  readonly sandbox?: SandboxLevel | undefined;
  readonly memory?: number | undefined;
  readonly allowLocal?: true | undefined;
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
  { settings: file, sandbox, memory, allowLocal }: HostValues,
): Promise<OpenConnector> {
  const connector = nameConnector(wanted, terminal);
  const settings = await loadSettings(terminal.cwd, file);
  const host = await terminal.createHost({
    clock: terminal.clock,
    settings: { ...settings, databaseNetworks: ownNetworks },
    sandbox,
    allowLocal,
    limits: memory === undefined ? {} : { memoryMb: memory },
  });
  await using opening = new AsyncDisposableStack();
  opening.use(host);
  const builtIn = builtInSources.find(({ name }) => name === connector.name);
  const { id } = builtIn ?? (await host.spec(connector, { signal: terminal.signal }));
  const open = opening.move();
  return { host, connector, id, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** The connector of that name or path; it is not loaded yet. @throws UsageError */
export function nameConnector(
  wanted: string | undefined,
  { cwd }: Pick<Terminal, "cwd">,
): ConnectorReference {
  if (wanted === undefined) throw new UsageError(`name ${connectorArgument}`);
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

/**
 * The connector and the configuration file that a command line names.
 * @throws UsageError that says all that is missing, the connector first
 */
export function requireConfigured(
  verb: string,
  wanted: string | undefined,
  config: string | undefined,
  terminal: Terminal,
): { readonly name: string; readonly path: string } {
  if (wanted === undefined && config === undefined)
    throw new UsageError(
      `${verb} needs a connector and its configuration: svc ${verb} <connector> --config FILE; svc connectors lists connectors, svc config <connector> writes a first configuration`,
    );
  const { name } = nameConnector(wanted, terminal);
  if (config === undefined)
    throw new UsageError(
      `${verb} needs --config FILE; svc config ${printable(name)} writes a first configuration`,
    );
  return { name: wanted ?? name, path: config };
}
