/** An image that is on this machine, or can be pulled, and what Docker knows of it. */
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { parseBounded } from "../wire/bounded-json.ts";
import { askDocker, unavailable } from "./docker.ts";

export interface FoundImage {
  /** Its id in this machine's Docker: `sha256:…` */
  readonly id: string;
  /** Its digest for every machine: that of its registry, or where it has none its id. */
  readonly digest: string;
  /** Empty: root. */
  readonly user: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

export interface ImageName {
  /** With the registry, where it is named: `registry.example.com:5000/team/source-shop`. */
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
}

const imageGrammar =
  /^((?:[a-z0-9.-]+:\d{1,5}\/)?[a-z0-9]+(?:(?:\/|[._-]+)[a-z0-9]+)*)(?::(\w[\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;
/** A name taken apart; undefined: no registry could have it. */
export function parseImageName(name: string): ImageName | undefined {
  const [, repository, tag, digest] = imageGrammar.exec(name) ?? [];
  return repository === undefined || name.length > maxNameLength
    ? undefined
    : { repository, tag, digest };
}

const maxNameLength = 400;
/** References as registries write them; nothing that begins like a flag. */
const nameGrammar = /^[a-z0-9][\w.:/@-]{0,400}$/i;
/** Go's names of architectures, by Node's. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * @throws SANDBOX_UNAVAILABLE without Docker; CONNECTOR_INVALID when there is no such image, or
 * none for this machine
 */
export async function findImage(name: string, signal?: AbortSignal): Promise<FoundImage> {
  const found = await lookUp(name, signal);
  if (found) return found;
  throw invalid("is not on this machine and cannot be pulled: build it, or check its name");
}

/**
 * The id on this machine of what a reference names for good: an id, or a name with its digest,
 * which is pulled where it is missing.
 * @throws SANDBOX_UNAVAILABLE when it is not to be had, CONNECTOR_INVALID when it is for another
 * machine
 */
export async function idOfPinned(reference: string, signal?: AbortSignal): Promise<string> {
  if (reference.startsWith("sha256:")) return reference;
  const found = await lookUp(reference, signal);
  if (found) return found.id;
  throw unavailable("its image is not on this host, and cannot be pulled");
}

/** @throws SANDBOX_UNAVAILABLE */
export async function requireDocker(signal?: AbortSignal): Promise<void> {
  const version = await askDocker(["version", "--format", "{{.Server.Os}}"], { signal });
  if (version.exitCode !== 0)
    throw unavailable("Docker does not answer: start it, or set DOCKER_HOST");
}

async function lookUp(name: string, signal?: AbortSignal): Promise<FoundImage | undefined> {
  if (!nameGrammar.test(name)) throw invalid("has no name that a registry could have");
  await requireDocker(signal);
  // One that was built here has no digest of a registry: its id stands for it.
  const [, pin] = name.split("@");
  const found =
    (await inspect(name, signal)) ??
    (pin === undefined ? undefined : await inspect(pin, signal)) ??
    (await pull(name, signal));
  if (!found) return undefined;
  const { Id: id, Architecture: architecture, Os: system, Config: config } = found;
  const own = architectures[process.arch] ?? process.arch;
  if (system !== "linux" || architecture !== own)
    throw invalid(
      `is built for ${plain(system)}/${plain(architecture)}, and this machine is linux/${own}`,
    );
  const { User: user, Labels: labels } = isJsonObject(config ?? null) ? (config as JsonObject) : {};
  return {
    id: String(id),
    digest: pin ?? digestIn(found, name) ?? String(id),
    user: typeof user === "string" ? user : "",
    labels: isJsonObject(labels ?? null) ? (labels as JsonObject) : {},
  };
}

/** The digest in the registry that the name is of. */
function digestIn({ RepoDigests: known }: JsonObject, name: string): string | undefined {
  const repository = parseImageName(name)?.repository ?? "";
  const pairs = (Array.isArray(known) ? known : []).map((one) => String(one).split("@"));
  // Docker leaves out what is understood: docker.io/library/…
  return pairs.find(([short = ""]) => `/${repository}`.endsWith(`/${short}`))?.[1];
}

async function pull(name: string, signal?: AbortSignal): Promise<JsonObject | undefined> {
  const { exitCode } = await askDocker(["pull", "--quiet", name], { signal });
  return exitCode === 0 ? await inspect(name, signal) : undefined;
}

async function inspect(name: string, signal?: AbortSignal): Promise<JsonObject | undefined> {
  const args = ["image", "inspect", "--format", "{{json .}}", name];
  const { exitCode, output } = await askDocker(args, { signal });
  if (exitCode !== 0) return undefined;
  const value = parseInspected(output);
  return isJsonObject(value) ? (value as JsonObject) : undefined;
}

/** The builder of an image writes most of it, in as many labels as Docker takes. */
function parseInspected(output: string): JsonValue {
  try {
    return parseBounded(Buffer.from(output), budgets.image, (problem) =>
      invalid(`says more of itself than is read: it ${problem}`),
    );
  } catch (error) {
    const isBounded = error instanceof ConnectorError && error.code === "CONNECTOR_INVALID";
    throw isBounded ? error : unavailable("Docker says of an image what is no JSON");
  }
}

const plain = (word: unknown) => String(word).replace(/[^\w.-]/g, "");

export const invalid = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "the image", problem });
