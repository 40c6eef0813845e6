/** An image that is on this machine, or can be pulled, and what Docker knows of it. */
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { askDocker, unavailable } from "./docker.ts";

export interface FoundImage {
  /** `sha256:…` */
  readonly id: string;
  /** Empty: root. */
  readonly user: string;
  readonly labels: Readonly<Record<string, unknown>>;
}

/** References as registries write them; nothing that begins like a flag. */
const nameGrammar = /^[a-z0-9][\w.:/@-]{0,300}$/i;
/** Go's names of architectures, by Node's. */
const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

/**
 * @throws SANDBOX_UNAVAILABLE without Docker; CONNECTOR_INVALID when there is no such image, or none
 * for this machine
 */
export async function findImage(name: string, signal?: AbortSignal): Promise<FoundImage> {
  if (!nameGrammar.test(name)) throw invalid("has no name that a registry could have");
  const version = await askDocker(["version", "--format", "{{.Server.Os}}"], { signal });
  if (version.exitCode !== 0)
    throw unavailable("Docker does not answer: start it, or set DOCKER_HOST");
  const found = (await inspect(name, signal)) ?? (await pull(name, signal));
  if (!found)
    throw invalid("is not on this machine and cannot be pulled: build it, or check its name");
  const { Id: id, Architecture: architecture, Os: system, Config: config } = found;
  const own = architectures[process.arch] ?? process.arch;
  if (system !== "linux" || architecture !== own)
    throw invalid(
      `is built for ${plain(system)}/${plain(architecture)}, and this machine is linux/${own}`,
    );
  const { User: user, Labels: labels } = isJsonObject(config ?? null) ? (config as JsonObject) : {};
  return {
    id: String(id),
    user: typeof user === "string" ? user : "",
    labels: isJsonObject(labels ?? null) ? (labels as JsonObject) : {},
  };
}

async function pull(name: string, signal?: AbortSignal): Promise<JsonObject | undefined> {
  const { exitCode } = await askDocker(["pull", "--quiet", name], { signal });
  return exitCode === 0 ? await inspect(name, signal) : undefined;
}

async function inspect(name: string, signal?: AbortSignal): Promise<JsonObject | undefined> {
  const args = ["image", "inspect", "--format", "{{json .}}", name];
  const { exitCode, output } = await askDocker(args, { signal });
  if (exitCode !== 0) return undefined;
  const value = JSON.parse(output) as JsonValue;
  return isJsonObject(value) ? (value as JsonObject) : undefined;
}

const plain = (word: unknown) => String(word).replace(/[^\w.-]/g, "");

export const invalid = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "the image", problem });
