/**
 * A source that is made of a declarative manifest, Airbyte's low-code form. It runs in the worker:
 * the document is a stranger's, and so is what its expressions do. Start at `loadManifest`.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonValue } from "../contract/json.ts";
import { checkpoint, type Output, records } from "../contract/output.ts";
import type { Source } from "../contract/source.ts";
import type { Stream } from "../contract/stream.ts";
import { manifestName } from "../wire/manifest-name.ts";
import { openComponent } from "./document/component.ts";
import { readDocument } from "./document/document.ts";
import { invalid, Unsupported } from "./document/invalid.ts";
import { markSecrets } from "./document/settings.ts";
import { headerNamesOf } from "./records/answer.ts";
import { rateLimitOf } from "./requests/budget.ts";
import { toEgress } from "./requests/origins.ts";
import { type Context, compileStream, type ManifestStream, nameOf } from "./stream.ts";

/** @throws CONNECTOR_INVALID with the place, for what is wrong or not supported */
export async function loadManifest(url: string): Promise<Source> {
  const text = await readFile(new URL(url), "utf8");
  return toSource(text, manifestName(fileURLToPath(url)));
}

/** Streams that need what the runtime lacks, and what that is. */
type Unusable = ReadonlyMap<string, ConnectorError>;

/** @param name of the connector, as people type it */
export function toSource(text: string, name: string): Source {
  const document = readDocument(text);
  const root = openComponent(document, "manifest", ["DeclarativeSource"]);
  const spec = root.child("spec", "Spec");
  const specification = spec?.get("connection_specification") ?? {};
  if (!isJsonObject(specification)) throw invalid("spec", "must be an object");
  root.child("concurrency_level", "ConcurrencyLevel");
  const { streams, unusable } = compileStreams(listOf(root.get("streams")));
  const check = root.required("check", root.child("check", "CheckStream"));
  const wanted = check.get("stream_names");
  const find = (one: unknown): ManifestStream => {
    const refusal = unusable.get(String(one));
    if (refusal) throw refusal;
    const found = streams.find((stream) => stream.name === one);
    if (!found) throw new ConnectorError("STREAM_UNKNOWN", { stream: String(one) });
    return found;
  };
  const checked = Array.isArray(wanted) ? wanted : [];
  for (const one of checked)
    if (!unusable.has(String(one)) && !streams.some((stream) => stream.name === one))
      throw invalid(check.at("stream_names"), "names a stream that is not there");
  const version = root.get("version");
  const title = specification.title ?? name;
  const documentationUrl = spec?.get("documentation_url");
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  const tell = (ctx: Context) => {
    for (const [stream, { details }] of unusable)
      ctx.log.warn("A stream cannot be read: the runtime lacks what it needs.", {
        stream,
        path: String(details.path),
        problem: String(details.problem),
      });
  };
  const all: readonly Stream[] = streams.map(({ stream }) => stream);
  return {
    id: `conn_${slug || "manifest"}`,
    version: typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version) ? version : "0.0.0",
    title: String(title).slice(0, 100) || "Manifest",
    ...(typeof documentationUrl === "string" ? { documentationUrl } : {}),
    spec: markSecrets(
      specification,
      streams.flatMap(({ authenticators }) => authenticators),
    ) as never,
    egress: toEgress({
      origins: streams.flatMap(({ origins }) => origins),
      minted: streams.flatMap(({ minted }) => minted),
      responseHeaders: headerNamesOf(document),
      rateLimit: rateLimitOf(root),
    }) as never,
    // Who lists them learns which are missing, and why.
    ...(unusable.size === 0
      ? { streams: all }
      : {
          missingStreams: [...unusable].map(([stream, { details }]) => ({
            stream: stream.slice(0, 500),
            path: String(details.path).slice(0, 500),
            problem: String(details.problem).slice(0, 500),
          })),
          async *discover(ctx: unknown) {
            tell(ctx as Context);
            yield* all;
          },
        }),
    async check(given) {
      const ctx = given as unknown as Context;
      tell(ctx);
      for (const one of checked) {
        const stream = find(one);
        for await (const slice of stream.open(ctx, {}).slices()) {
          let hasRecord = false;
          for await (const page of stream.read(ctx, slice)) {
            hasRecord = page.length > 0;
            if (hasRecord) break;
          }
          if (hasRecord) break;
        }
      }
    },
    async *read(given, selected, state): AsyncGenerator<Output<JsonValue>> {
      const ctx = given as unknown as Context;
      const stream = find(selected.name);
      const isIncremental = selected.syncMode === "incremental";
      const run = stream.open(ctx, isIncremental && isJsonObject(state) ? state : {});
      for await (const slice of run.slices()) {
        for await (const page of stream.read(ctx, slice)) yield records(page);
        slice.close();
        const kept = isIncremental && run.isDue() ? run.state() : undefined;
        if (kept) yield checkpoint(kept as JsonValue);
      }
      run.finish();
      const kept = isIncremental ? run.state() : undefined;
      if (kept) yield checkpoint(kept as JsonValue);
    },
  };
}

/**
 * What needs something that the runtime lacks cannot be read; the other streams can.
 * @throws CONNECTOR_INVALID when none can, and for whatever is wrong
 */
function compileStreams(values: readonly JsonValue[]): {
  readonly streams: readonly ManifestStream[];
  readonly unusable: Unusable;
} {
  if (values.length === 0) throw invalid("manifest.streams", "must name a stream");
  const unusable = new Map<string, ConnectorError>();
  const streams = values.flatMap((value, index) => {
    const name = nameOf(value, index);
    try {
      return [compileStream(value, index)];
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      unusable.set(name, error);
      return [];
    }
  });
  const [first] = unusable.values();
  if (streams.length === 0 && first) throw first;
  return { streams, unusable };
}

const listOf = (value: JsonValue | undefined) => (Array.isArray(value) ? value : []);
