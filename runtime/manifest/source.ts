/**
 * A source that is made of a declarative manifest, Airbyte's low-code form. It runs in the worker:
 * the document is a stranger's, and so is what its expressions do. Start at `loadManifest`.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { HttpEgress } from "../contract/egress.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { checkpoint, type Output, records } from "../contract/output.ts";
import type { Source } from "../contract/source.ts";
import { manifestName } from "../wire/manifest-name.ts";
import { type Catalog, compileCatalog } from "./catalog.ts";
import { type CodeLoader, loadCode, noCode } from "./custom/code.ts";
import { type Component, openComponent, unknownPropertiesOf } from "./document/component.ts";
import { readDocument } from "./document/document.ts";
import { invalid } from "./document/invalid.ts";
import { type DerivedSetting, markSecrets } from "./document/settings.ts";
import { readSpecFile } from "./document/spec-file.ts";
import { headerNamesOf } from "./records/answer.ts";
import { noSchemaFiles, openSchemaFiles } from "./records/schema-files.ts";
import { rateLimitOf } from "./requests/budget.ts";
import { toEgress } from "./requests/origins.ts";
import { compileSettingsRules } from "./settings-rules.ts";
import type { ManifestContext } from "./slices/partition.ts";
import type { ManifestStream } from "./stream.ts";

/**
 * @param loader imports what its author has written in TypeScript
 * @throws CONNECTOR_INVALID with the place, for what is wrong or not supported
 */
export async function loadManifest(url: string, loader: CodeLoader): Promise<Source> {
  const text = await readFile(new URL(url), "utf8");
  const path = fileURLToPath(url);
  return toSource(text, manifestName(path), {
    files: openSchemaFiles(path),
    readSpec: () => readSpecFile(path),
    code: await loadCode(path, text, loader),
  });
}

/** The files beside a manifest. */
interface Beside {
  /** Schemas. */
  readonly files?: typeof noSchemaFiles;
  /** Its settings. */
  readonly readSpec?: () => JsonObject | undefined;
  /** Components that its author has written. */
  readonly code?: typeof noCode;
}

/** @param name of the connector, as people type it */
export function toSource(
  text: string,
  name: string,
  { files = noSchemaFiles, readSpec = () => undefined, code = noCode }: Beside = {},
): Source {
  const document = readDocument(text);
  document.spec ??= readSpec() ?? null;
  const root = openComponent(document, "manifest", ["DeclarativeSource"], code);
  const spec = root.child("spec", "Spec");
  const specification = spec?.get("connection_specification") ?? {};
  if (!isJsonObject(specification)) throw invalid("spec", "must be an object");
  root.child("concurrency_level", "ConcurrencyLevel");
  const catalog = compileCatalog(root, files);
  const { always, unusable, reaches } = catalog;
  const check = compileCheck(root, catalog);
  const overrides = overridesOf(root);
  const rules = compileSettingsRules(spec);
  const withRules = (given: unknown): ManifestContext => {
    const ctx = given as ManifestContext;
    return { ...ctx, config: rules.apply(ctx.config, ctx.clock) };
  };
  const egress = toEgress({
    origins: reaches.flatMap(({ origins }) => origins),
    minted: reaches.flatMap(({ minted }) => minted),
    responseHeaders: headerNamesOf(document),
    rateLimit: rateLimitOf(root),
    archives: JSON.stringify(document).includes('"ZipfileDecoder"'),
  });
  refuseMadeHosts(egress, rules.derived);
  const version = root.get("version");
  const title = specification.title ?? name;
  const documentationUrl = spec?.get("documentation_url");
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  const unknownProperties = unknownPropertiesOf(document);
  const warnOfManifest = (ctx: ManifestContext) => {
    for (const property of unknownProperties)
      ctx.log.warn("A property of the manifest is not looked at.", { ...property });
    for (const [stream, { details }] of unusable)
      ctx.log.warn("A stream cannot be read: the runtime lacks what it needs.", {
        stream,
        path: String(details.path),
        problem: String(details.problem),
      });
  };
  return {
    id: `conn_${slug || "manifest"}`,
    version: typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version) ? version : "0.0.0",
    title: String(title).slice(0, 100) || "Manifest",
    ...(typeof documentationUrl === "string" ? { documentationUrl } : {}),
    spec: markSecrets(
      specification,
      reaches.flatMap(({ authenticators }) => authenticators),
      rules.derived,
    ) as never,
    egress: egress as never,
    // Who lists them learns which are missing, and why.
    ...(unusable.size === 0
      ? {}
      : {
          missingStreams: [...unusable].map(([stream, { details }]) => ({
            stream: stream.slice(0, 500),
            path: String(details.path).slice(0, 500),
            problem: String(details.problem).slice(0, 500),
          })),
        }),
    ...(unusable.size === 0 && unknownProperties.length === 0 && !catalog.isDependent
      ? { streams: always.map(({ stream }) => stream) }
      : {
          async *discover(given: unknown) {
            const ctx = withRules(given);
            warnOfManifest(ctx);
            for await (const { stream, discover } of catalog.list(ctx)) {
              const found = discover ? await discover(ctx) : stream;
              // Its records would be empty: an account may list a table without a field.
              if (Object.keys(found.schema.properties ?? {}).length > 0) yield found;
              else ctx.log.warn("A stream has no fields, and is left out.", { stream: found.name });
            }
          },
        }),
    async check(given) {
      const whole = withRules(given);
      warnOfManifest(whole);
      const ctx = { ...whole, config: { ...whole.config, ...overrides } };
      for await (const stream of check(ctx)) await readOne(stream, ctx);
    },
    async *read(given, selected, state): AsyncGenerator<Output<JsonValue>> {
      const ctx = withRules(given);
      const named = await catalog.find(ctx, selected.name);
      const isIncremental = selected.syncMode === "incremental";
      const begun = isIncremental && isJsonObject(state) ? state : {};
      const stream = named.forState(begun);
      const run = stream.open(ctx, begun);
      for await (const slice of run.slices()) {
        for await (const page of stream.read(ctx, slice)) yield records(page);
        slice.close();
        const kept = isIncremental && run.isDue() ? run.state() : undefined;
        if (kept) yield checkpoint(kept as JsonValue);
      }
      run.finish();
      const kept = isIncremental ? (run.state() ?? stream.finalState) : undefined;
      if (kept) yield checkpoint(kept as JsonValue);
    },
  };
}

/** The streams that show whether an account can be read: the usable ones of those named. */
function compileCheck(root: Component, catalog: Catalog) {
  const check = root.required("check", root.child("check", "CheckStream", "CheckDynamicStream"));
  const wanted = check.get("stream_names");
  const names = Array.isArray(wanted) ? wanted.map(String) : [];
  if (names.some((name) => !catalog.mayHave(name)))
    throw invalid(check.at("stream_names"), "names a stream that is not there");
  const countOf = (part: Component) => Number(part.get("stream_count") ?? 1);
  const dynamic =
    check.type === "CheckDynamicStream"
      ? [{ name: undefined, count: countOf(check) }]
      : check
          .children("dynamic_streams_check_configs", "DynamicStreamCheckConfig")
          .map((one) => ({ name: String(one.get("dynamic_stream_name")), count: countOf(one) }));
  const isLost = (name: string) =>
    catalog.unusable.has(name) && !catalog.always.some((stream) => stream.name === name);
  const usable = names.filter((name) => !isLost(name));
  // Without any, it fails with what they lack.
  const tried = usable.length + dynamic.length > 0 ? usable : names;
  return async function* (ctx: ManifestContext) {
    for (const name of tried) yield await catalog.find(ctx, name);
    for (const { name, count } of dynamic) {
      let left = count;
      for await (const stream of catalog.listDynamic(ctx, name)) {
        if (left-- <= 0) break;
        yield stream;
      }
    }
  };
}

/**
 * The host fills settings into hosts as the customer gave them.
 * @throws CONNECTOR_INVALID for one that the manifest makes or changes
 */
function refuseMadeHosts(
  { baseUrl, placeholders }: HttpEgress,
  derived: readonly DerivedSetting[],
): void {
  const { urls = [], minted = [] } = placeholders ?? {};
  const templates = [baseUrl, ...urls, ...minted.map(({ url }) => url)].map(String);
  for (const { path } of derived)
    if (templates.some((template) => template.includes(`{${path.join(".")}}`)))
      throw invalid(
        "spec.config_normalization_rules",
        `makes the setting ${path.join(".")}, which stands in a URL's host: hosts are known before`,
      );
}

/** Settings that have other values while an account is checked. */
function overridesOf(root: Component): JsonObject {
  const check = root.child("check", "CheckStream", "CheckDynamicStream");
  const overrides = check?.get("config_overrides") ?? {};
  if (!isJsonObject(overrides)) throw invalid("check.config_overrides", "must be an object");
  return overrides;
}

/** Reads until a record comes; none is fine too. */
async function readOne({ open, read }: ManifestStream, ctx: ManifestContext): Promise<void> {
  for await (const slice of open(ctx, {}).slices())
    for await (const page of read(ctx, slice)) if (page.length > 0) return;
}
