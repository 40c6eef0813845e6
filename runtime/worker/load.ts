import type { CatalogStream, Manifest } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../contract/json.ts";
import type { Source } from "../contract/source.ts";
import type { Stream } from "../contract/stream.ts";
import { manifestName } from "../wire/manifest-name.ts";
import { toWorkerError } from "./failure.ts";
import { withTopProperties } from "./top-properties.ts";

/**
 * Imports a connector module, or makes a source of a declarative manifest.
 * @param document the text of a manifest that lies in no file
 * @throws CONNECTOR_INVALID when it does not export a source
 */
export async function loadSource(url: string, document?: string): Promise<Source> {
  // Only who runs a manifest loads what reads one.
  if (/\.ya?ml$/.test(url)) {
    const { loadManifest, toSource } = await import("../manifest/source.ts");
    return document === undefined
      ? await loadManifest(url, { import: importModule, toError: toWorkerError })
      : toSource(document, manifestName(url));
  }
  if (url.startsWith("image:") && document !== undefined)
    return (await import("../protocol/source.ts")).toSource(document);
  const module = await importModule(url, "module");
  const source = ownDefault(module.default) as Partial<Source> | undefined;
  const require = (holds: boolean, path: string, problem: string) => {
    if (!holds) throw new ConnectorError("CONNECTOR_INVALID", { path, problem });
  };
  require(typeof source === "object" &&
    source !== null, "default export", "is missing: export default defineSource({…})");
  require(!isWriter(
    source,
  ), "default export", "is a destination or an activation: they run in svc's own process, so only those that come with svc can");
  for (const name of ["id", "version", "title"] as const)
    require(typeof source?.[name] === "string", name, "must be a string");
  require(isJsonObject(source?.spec), "spec", "must be a TypeBox object");
  require(isJsonObject(source?.egress), "egress", "must be http(…), postgres(…) or mysql(…)");
  require(typeof source?.check === "function", "check", "must be a function");
  require(typeof source?.read === "function", "read", "must be a function");
  const hasStreams = Array.isArray(source?.streams);
  require(hasStreams !==
    (typeof source?.discover === "function"), "streams", "must be given, or discover, not both");
  return source as Source;
}

/** @throws CONNECTOR_INVALID naming `what`, for a module that cannot be imported */
async function importModule(url: string, what: string): Promise<Record<string, unknown>> {
  try {
    return await import(url);
  } catch (error) {
    throw toLoadError(error, what);
  }
}

/** A file of CommonJS that exports nothing has an empty object for its default export. */
const ownDefault = (value: unknown) =>
  isJsonObject(value as JsonObject) && Object.keys(value as object).length === 0
    ? undefined
    : value;

/** Whether defineDestination or defineActivation made it, and not defineSource. */
const isWriter = (value: object = {}) => "syncModes" in value || "maxBatchRows" in value;

/**
 * Why a module cannot be imported, in words of ours. Anything else is a failure of its own code.
 */
function toLoadError(error: unknown, path: string): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const invalid = (problem: string) => new ConnectorError("CONNECTOR_INVALID", { path, problem });
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
    const [, name = ""] = /'((?:@[\w.-]+\/)?[\w.-]+)'/.exec(String(message)) ?? [];
    return invalid(
      name ? `imports "${name}", which is not installed` : "imports a file that does not exist",
    );
  }
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
    return invalid("is TypeScript in an installed package: build it to JavaScript, then pack it");
  const unopened = unopenedPackage(error);
  if (unopened !== undefined)
    return invalid(
      `imports "${unopened}", which package.json does not name among its dependencies`,
    );
  const isCommonJs =
    code === "ERR_REQUIRE_CYCLE_MODULE" ||
    /outside a module|require\(\) ES Module/.test(String(message));
  if (
    isCommonJs ||
    (error instanceof SyntaxError && /import statement|export/.test(error.message))
  ) {
    return invalid(
      'is an ES module, but its package.json does not say "type": "module"; add that, or name it index.mts',
    );
  }
  if (
    error instanceof SyntaxError ||
    code === "ERR_INVALID_TYPESCRIPT_SYNTAX" ||
    code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
  ) {
    return invalid("has a syntax error; check it with tsc");
  }
  return error;
}

/**
 * The installed package that an import was not allowed to read. Files that the module itself opens
 * are another matter.
 */
function unopenedPackage(error: unknown): string | undefined {
  const { code, resource, stack } = error as Record<"code" | "resource" | "stack", unknown>;
  const isImport =
    code === "ERR_ACCESS_DENIED" && /\n +at .*node:internal\/modules\//.test(String(stack));
  if (!isImport) return undefined;
  return /.*[/\\]node_modules[/\\]((?:@[\w.-]+[/\\])?[\w.-]+)/.exec(String(resource))?.[1];
}

/** The source's description of itself, as plain data. */
export function describeSource(source: Source): Manifest {
  const streams = source.streams?.map(toCatalogStream);
  return {
    id: source.id,
    version: source.version,
    title: source.title,
    ...(source.documentationUrl === undefined ? {} : { documentationUrl: source.documentationUrl }),
    spec: source.spec as unknown as JsonObject,
    egress: source.egress,
    ...(source.state === undefined ? {} : { state: source.state as unknown as JsonObject }),
    ...(streams === undefined ? {} : { streams }),
    ...(source.missingStreams?.length ? { missingStreams: source.missingStreams } : {}),
    ...(typeof source.entities === "function" ? { hasEntities: true } : {}),
  };
}

/** A stream in the protocol's words. */
export function toCatalogStream(stream: Stream): CatalogStream {
  return {
    name: stream.name,
    ...(stream.namespace === undefined ? {} : { namespace: stream.namespace }),
    json_schema: withTopProperties(stream.schema as CatalogStream["json_schema"]),
    supported_sync_modes: stream.syncModes ?? ["full_refresh"],
    source_defined_cursor: stream.cursorField !== undefined,
    default_cursor_field: stream.cursorField === undefined ? [] : [stream.cursorField],
    ...(stream.proposedCursors?.length ? { proposed_cursors: stream.proposedCursors } : {}),
    ...(stream.estimatedRows === undefined ? {} : { estimated_rows: stream.estimatedRows }),
    source_defined_primary_key: (stream.primaryKey ?? []).map((field) => [field]),
    is_resumable: stream.isResumable ?? stream.syncModes?.includes("incremental") ?? false,
    ...(stream.supportsRowFilter ? { supports_row_filter: true } : {}),
  };
}
