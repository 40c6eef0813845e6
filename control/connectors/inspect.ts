/** Looks at a connector that its operator wants to add: its code, and what it says of itself. */
import {
  builtInActivations,
  builtInDestinations,
  builtInSources,
  type CatalogStream,
  ConnectorError,
  type Host,
  isLocal,
  type Manifest,
  manifestCode,
  manifestDigest,
  type PinnedSandbox,
  readConnectorCode,
} from "svc-connectors/host";
import { secretFieldsOf } from "../contract/secret-settings.ts";
import { type GivenImage, imagePlace } from "./images.ts";
import { moduleAt, noPackage, type Place } from "./places.ts";
import { refused } from "./refused.ts";
import { standardCatalog } from "./standard-catalog.ts";

export interface InspectedConnector extends Place {
  readonly code: string;
  readonly sandbox: PinnedSandbox;
  readonly manifest: Manifest;
  /** The streams with standard settings; none where only the account can tell. */
  readonly streams: readonly CatalogStream[];
}

export interface InspectOptions {
  /** Packages are looked up from here. */
  readonly folder: string;
  readonly sandbox: PinnedSandbox;
  /** The code, or image, that is expected; undefined: whatever is there. */
  readonly digest?: string | undefined;
  /** Aborts when nobody waits for it any more: an image may have to be pulled. */
  readonly signal?: AbortSignal | undefined;
}

/** Characters of what is kept of one: manifest and streams. */
const maxTextLength = 4 * 1024 * 1024;

/**
 * Loads it in a worker that reaches no network. @param host of such workers
 * @throws connector_refused: `problem` is a sentence for its operator
 */
export async function inspectConnector(
  host: Host,
  given: Place | GivenImage,
  options: InspectOptions,
): Promise<InspectedConnector> {
  try {
    if (!("reference" in given)) return await inspect(host, given, options);
    const { digest, ...others } = options;
    return await inspect(host, await imagePlace(given, { ...others, digest }), others);
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code === "CANCELLED") throw error;
    const isMissing =
      error.code === "CONNECTOR_UNKNOWN" && "kind" in given && given.kind === "package";
    throw refused(isMissing ? noPackage : error.message);
  }
}

async function inspect(
  host: Host,
  place: Place,
  { folder, sandbox, digest }: InspectOptions,
): Promise<InspectedConnector> {
  const module = await moduleAt(place, folder);
  const { digest: code } =
    place.document === null
      ? await readConnectorCode(module.url)
      : await manifestCode(place.document);
  if (digest !== undefined && digest !== code)
    throw refused(`its code is another than expected: ${code}`);
  const manifest = await host.spec({ ...module, pin: { code, sandbox } });
  requireNoBuiltIn(manifest.id);
  if (isLocal(manifest.egress))
    throw refused(
      "its provider is declared on this machine (http, or localhost), which is for svc read --allow-local only: declare the https:// URL of the provider",
    );
  requireCredential(manifest);
  const pin = { code, sandbox, manifest: manifestDigest(manifest) };
  // Every later load must say the same of it: one that does not is told now.
  await host.spec({ ...module, pin });
  // An image's streams are asked for with an account: no program of it runs for nothing.
  const streams =
    place.image === null ? await standardCatalog(host, { ...module, pin }, manifest) : [];
  if (JSON.stringify([manifest, streams]).length > maxTextLength)
    throw refused(`it says more of itself than ${maxTextLength} characters`);
  return { ...place, code, sandbox, manifest, streams };
}

function requireNoBuiltIn(id: string): void {
  const builtIn = [...builtInSources, ...builtInDestinations, ...builtInActivations];
  const taken = builtIn.flatMap((one) => [one.id, ...one.credentialsOf]);
  if (taken.includes(id)) throw refused(`its id ${id} is that of a connector which comes with svc`);
}

/** A source has a credential, and a credential a secret. */
function requireCredential(manifest: Manifest): void {
  if (secretFieldsOf(manifest).length === 0)
    throw refused("none of its settings is a secret: what needs no credential has no source here");
}
