/**
 * Whether a connector from outside is still the one that its operator added. Asked each time that
 * it is loaded, on each host.
 */
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorPin, ConnectorReference } from "../contract/host.ts";
import type { JsonValue } from "../contract/json.ts";
import { requireDocker } from "../image/find-image.ts";
import { requireBubblewrap } from "./bubblewrap.ts";
import { manifestCode, manifestDigest, readConnectorCode } from "./code-digest.ts";

/**
 * The paths that its worker may read.
 * @throws CONNECTOR_REMOVED, CONNECTOR_CHANGED, and as reading its code fails
 */
export async function pinnedPaths(
  { url, document }: Pick<ConnectorReference, "url" | "document">,
  pin: ConnectorPin,
): Promise<readonly string[]> {
  if (pin.isRemoved) throw new ConnectorError("CONNECTOR_REMOVED");
  const code = document === undefined ? readConnectorCode(url) : manifestCode(document);
  const { digest, paths } = await code.catch((error: unknown) => {
    if (error instanceof ConnectorError && error.code === "CONNECTOR_UNKNOWN")
      throw changed("its module is not there");
    throw error;
  });
  if (digest !== pin.code) throw changed("its files have changed");
  return paths;
}

/**
 * Whether it could be loaded here and now, without loading it.
 * @throws as {@link pinnedPaths} · SANDBOX_UNAVAILABLE: its wall cannot be built on this host
 */
export async function requireRunnable(connector: ConnectorReference): Promise<void> {
  const { pin } = connector;
  if (!pin) return;
  await pinnedPaths(connector, pin);
  if (connector.container) await requireDocker();
  if (pin.sandbox === "bubblewrap") requireBubblewrap();
}

/** @throws CONNECTOR_CHANGED */
export function requireManifest(manifest: JsonValue, { manifest: digest }: ConnectorPin): void {
  if (digest !== undefined && manifestDigest(manifest) !== digest)
    throw changed("it says something else of itself than before");
}

const changed = (problem: string) => new ConnectorError("CONNECTOR_CHANGED", { problem });
