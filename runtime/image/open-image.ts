/** Makes a connector of an image: asks its program for its spec, behind the same walls as ever. */
import { join } from "node:path";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference } from "../contract/host.ts";
import type { ImageDocument } from "../contract/image.ts";
import { isJsonObject, type JsonObject } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import { schemaOf } from "../spec/egress-fields.ts";
import { parseBounded } from "../wire/bounded-json.ts";
import { openAuthority } from "./authority.ts";
import { nobody, startContainer } from "./container.ts";
import { type FoundImage, findImage, invalid, parseImageName } from "./find-image.ts";
import { openGate, socketName } from "./gate.ts";
import { openImageProxy } from "./proxy.ts";
import { createRunFolder, writeRunFiles } from "./run-folder.ts";
import { settingsSchema } from "./settings-schema.ts";

export interface OpenImageOptions {
  /** Names that its requests may go to. */
  readonly hosts: readonly string[];
  /** Paths of secret settings that it gets as they are. */
  readonly exposed: readonly string[];
  /** Memory of its container. */
  readonly memoryMb: number;
  /** The name of its connector; default: as its repository. */
  readonly name?: string | undefined;
  /** Other machines are to run it too. */
  readonly isShared?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A program of a large interpreter, on a loaded machine. */
const maxSpecMs = 120_000;
const maxSpecBytes = 4 * budgets.manifest.bytes;

/**
 * @param name as Docker knows it
 * @throws SANDBOX_UNAVAILABLE, CONNECTOR_INVALID, CONNECTOR_TIMEOUT, CONNECTOR_OUT_OF_MEMORY,
 * CANCELLED
 */
export async function openImage(
  name: string,
  options: OpenImageOptions,
): Promise<ConnectorReference> {
  const { hosts, exposed, signal, isShared } = options;
  const image = await findImage(name, signal);
  const { spec, user } = await knownSpec(image, options);
  const schema = spec.connectionSpecification;
  if (!isJsonObject(schema ?? null)) throw invalid("gives a spec without connectionSpecification");
  for (const path of exposed) {
    if (isSecret(schemaOf(schema as JsonObject, path) ?? {})) continue;
    const problem = "is no secret setting of this image; `svc spec` lists them";
    throw new ConnectorError("CONFIG_INVALID", { path, problem });
  }
  const { documentationUrl } = spec;
  const label = (key: string) => image.labels[`io.airbyte.${key}`];
  const version = label("version");
  const short = shortName(name);
  const document: ImageDocument = {
    name: options.name ?? short.replace(/^source-/, ""),
    version: typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version) ? version : "0.0.0",
    title: short.slice(0, 100),
    ...(typeof documentationUrl === "string" && URL.canParse(documentationUrl)
      ? { documentationUrl }
      : {}),
    spec: { properties: {}, ...settingsSchema(schema as JsonObject), type: "object" },
    hosts,
  };
  return {
    name: `image:${name}`,
    url: `image:${name}`,
    document: JSON.stringify(document),
    container: { id: isShared ? pinned(name, image) : image.id, user, hosts, exposed },
  };
}

/** The last part of its repository. */
const shortName = (name: string) =>
  name
    .replace(/@sha256:.*$/, "")
    .replace(/^.*\//, "")
    .replace(/:.*$/, "");

const pinned = (name: string, { digest }: FoundImage) =>
  `${parseImageName(name)?.repository ?? shortName(name)}@${digest}`;

interface AskedSpec {
  readonly spec: JsonObject;
  readonly user: string | undefined;
}

/** Specs by the ids of images: the same program says the same again. */
const asked = new Map<string, AskedSpec>();
const maxKnown = 100;

async function knownSpec(image: FoundImage, options: OpenImageOptions): Promise<AskedSpec> {
  const known = asked.get(image.id);
  if (known) return known;
  const spec = await askSpec(image, options);
  if (asked.size >= maxKnown) asked.clear();
  asked.set(image.id, spec);
  return spec;
}

/** The spec of its program, and the user that it was read as: nobody, where the image allows it. */
async function askSpec(image: FoundImage, options: OpenImageOptions): Promise<AskedSpec> {
  const isRoot = /^(?:root|0)?(?::|$)/.test(image.user);
  if (!isRoot) return { spec: await runSpec(image, undefined, options), user: undefined };
  try {
    return { spec: await runSpec(image, nobody, options), user: nobody };
  } catch (error) {
    if (!(error instanceof ConnectorError && error.code === "CONNECTOR_INVALID")) throw error;
    return { spec: await runSpec(image, undefined, options), user: undefined };
  }
}

async function runSpec(
  image: FoundImage,
  user: string | undefined,
  { memoryMb, signal }: OpenImageOptions,
): Promise<JsonObject> {
  const authority = await openAuthority();
  await using folder = await createRunFolder();
  const args = await writeRunFiles(folder.image, { verb: "spec", ca: authority.caPem });
  // A spec needs nobody: whatever it asks for is refused.
  await using _proxy = await openImageProxy({
    ...{ path: join(folder.gate, socketName), authority, hosts: [] },
    send: () => Promise.reject(new ConnectorError("INTERNAL")),
    onRefused: () => undefined,
  });
  await using gate = await openGate(folder.gate, signal);
  const options = { image: image.id, user, folder: folder.image, args, memoryMb };
  const container = startContainer(gate, options);
  const cancel = () => container.kill(new ConnectorError("CANCELLED"));
  signal?.addEventListener("abort", cancel, { once: true });
  const limitSeconds = maxSpecMs / 1000;
  const timer = setTimeout(
    () =>
      container.kill(new ConnectorError("CONNECTOR_TIMEOUT", { phase: "answer", limitSeconds })),
    maxSpecMs,
  );
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of container.output as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxSpecBytes)
        container.kill(invalid("writes without end when asked for its spec"));
      else chunks.push(chunk);
    }
    const { error } = await container.ended;
    if (error?.code === "CONNECTOR_EXITED") throw invalid("has no program that can be started");
    if (error) throw error;
    return findSpec(Buffer.concat(chunks));
  } catch (error) {
    const ended = await container.ended;
    throw error instanceof ConnectorError ? error : (ended.error ?? new ConnectorError("INTERNAL"));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

/** The first SPEC message. @throws CONNECTOR_INVALID */
function findSpec(output: Buffer): JsonObject {
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0x0a, from);
    const line = output.subarray(from, end < 0 ? output.length : end);
    from = end < 0 ? output.length : end + 1;
    if (line[0] !== 0x7b || !line.includes('"SPEC"')) continue;
    const message = parseBounded(line, budgets.manifest, (problem) =>
      invalid(`gives a spec that ${problem}`),
    );
    if (isJsonObject(message) && message.type === "SPEC" && isJsonObject(message.spec ?? null))
      return message.spec as JsonObject;
  }
  throw invalid(
    "answers `spec` without a SPEC message: it is no connector of the Airbyte Protocol",
  );
}
