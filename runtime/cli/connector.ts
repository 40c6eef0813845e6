import { basename } from "node:path";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference, Host, SandboxLevel } from "../contract/host.ts";
import { imageMemoryMb } from "../contract/image.ts";
import { builtInDestinations, builtInSources, findConnector, isPath } from "../host/registry.ts";
import { loadSettings, ownNetworks } from "./settings.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** The argument that names a connector, as the help and a message without one describe it. */
export const connectorArgument = `a connector: ${builtInSources.map(({ name }) => name).join(", ")}, the path of a module or of a declarative manifest, an installed package, or image:NAME`;

/** Values of the flags of every command that runs a connector. */
export interface HostValues {
  readonly settings?: string | undefined;
  readonly sandbox?: SandboxLevel | undefined;
  readonly memory?: number | undefined;
  readonly allowLocal?: true | undefined;
  /** Hosts that an image may reach. */
  readonly allowHost?: readonly string[] | undefined;
  readonly exposeSecret?: readonly string[] | undefined;
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
  values: HostValues,
): Promise<OpenConnector> {
  const { settings: file, sandbox, memory, allowLocal } = values;
  const connector = await openImageOr(nameConnector(wanted, terminal), values, terminal);
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

/** An image is asked for its spec; any other connector stays as it is named. */
async function openImageOr(
  connector: ConnectorReference,
  { allowHost = [], exposeSecret = [], memory = 512 }: HostValues,
  { err, signal }: Terminal,
): Promise<ConnectorReference> {
  if (!connector.url.startsWith(imagePrefix)) {
    if (allowHost.length + exposeSecret.length === 0) return connector;
    throw new UsageError(
      "--allow-host and --expose-secret are for images; other connectors declare their hosts",
    );
  }
  const { openImage } = await import("../image/open-image.ts");
  const opened = await openImage(connector.url.slice(imagePrefix.length), {
    hosts: allowHost,
    exposed: exposeSecret,
    memoryMb: imageMemoryMb(memory),
    signal,
  });
  for (const name of exposeSecret)
    await err.line(
      `svc: warning: the image itself gets the secret setting ${printable(name)}, and can do with it what it wants`,
    );
  return opened;
}

const imagePrefix = "image:";

/** The connector of that name or path; it is not loaded yet. @throws UsageError */
export function nameConnector(
  wanted: string | undefined,
  { cwd }: Pick<Terminal, "cwd">,
): ConnectorReference {
  if (wanted === undefined) throw new UsageError(`name ${connectorArgument}`);
  if (wanted.startsWith(imagePrefix)) return { name: wanted, url: wanted };
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (builtInDestinations.some(({ name }) => name === wanted))
      throw new UsageError(
        `${wanted} is a destination: svc spec ${wanted} shows its settings, and pipelines of the Control API write to it`,
      );
    throw new UsageError(noConnector(wanted));
  }
}

/** Says that there is none of that name or path, and what to name instead. */
export function noConnector(wanted: string): string {
  const names = builtInSources.map(({ name }) => name);
  const own = names.find((name) => name === basename(wanted));
  const ofPath = own
    ? `; svc's own is called ${own}, without a path`
    : "; a path leads to a module, to its folder, or to a declarative manifest (.yaml)";
  const hint = isPath(wanted)
    ? ofPath
    : suggestion(wanted, names) || "; `svc connectors` lists them, and a path begins with ./";
  return `there is no connector "${printable(wanted)}"${hint}`;
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
