/** A stream of a manifest: its retriever, its cursor, its schema, and the streams it depends on. */
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import type { Stream } from "../contract/stream.ts";
import { compileAsyncRetriever } from "./async-retriever.ts";
import type { CustomCode } from "./custom/code.ts";
import { propertiesWith } from "./custom/parts.ts";
import { ownPartOf } from "./custom/scope.ts";
import { type Component, openComponent } from "./document/component.ts";
import { invalid, Unsupported } from "./document/invalid.ts";
import { toText } from "./expressions/values.ts";
import { compileDynamicSchema } from "./records/dynamic-schema.ts";
import { compileSchema } from "./records/schema.ts";
import type { SchemaFiles } from "./records/schema-files.ts";
import { transformationTypes } from "./records/transformations.ts";
import { compileRetriever, type Reach, type Retriever } from "./retriever.ts";
import { compileCountCursor } from "./slices/count-cursor.ts";
import { compileCursor } from "./slices/cursor.ts";
import type { ManifestContext } from "./slices/partition.ts";
import { finishedState, type ParentStream } from "./slices/partitions.ts";
import { compileStateMigration } from "./slices/state-migration.ts";

export interface ManifestStream extends Pick<Retriever, "open" | "read"> {
  readonly name: string;
  /** The stream as far as it is known without a request. */
  readonly stream: Stream;
  /** Asks for the rest of its schema; it is not there where the manifest has all of it. */
  readonly discover?: ((ctx: ManifestContext) => Promise<Stream>) | undefined;
  readonly reach: Reach;
  /** The stream that is read from this state on: another one where the manifest names two. */
  forState(state: JsonObject): ManifestStream;
  /** The state that is kept where it has no cursor. */
  readonly finalState?: JsonObject | undefined;
}

/** Its name, for messages, whether the rest of it is supported or not. */
export function nameOf(value: JsonValue, index: number | string): string {
  const { name: own, $parameters } = (isJsonObject(value) ? value : {}) as JsonObject;
  const name = own ?? (isJsonObject($parameters) ? $parameters.name : undefined);
  if (typeof name !== "string" || name === "") throw invalid(`streams.${index}.name`, "is missing");
  return name;
}

/** How deep streams may be read by records of others. */
const maxParents = 8;
const streamTypes = ["DeclarativeStream", "StateDelegatingStream"] as const;

/**
 * @param code of components that its author has written
 * @param isTemplate of streams: what its schema lacks may be put in for each
 */
export function compileStream(
  value: JsonValue,
  index: number | string,
  files: SchemaFiles,
  code: CustomCode,
  isTemplate = false,
): ManifestStream {
  const name = nameOf(value, index);
  const opened = openComponent(value, `streams.${name}`, streamTypes, code);
  return compileOpened(opened, name, 0, files, isTemplate);
}

function compileOpened(
  named: Component,
  name: string,
  depth: number,
  files: SchemaFiles,
  isTemplate = false,
): ManifestStream {
  if (depth > maxParents) throw invalid(named.path, `has more than ${maxParents} parents in a row`);
  if (named.type === "StateDelegatingStream") return compileDelegating(named, name, depth, files);
  const reaches: Reach[] = [];
  const openParent = openParentOf(name, depth, files, reaches);
  const cursorPart = named.child(
    "incremental_sync",
    ...(["DatetimeBasedCursor", "IncrementingCountCursor"] as const),
  );
  const plan =
    cursorPart &&
    (cursorPart.type === "IncrementingCountCursor" ? compileCountCursor : compileCursor)(
      cursorPart,
    );
  const known = depth === 0 ? compileSchema(named, name, files, isTemplate) : undefined;
  const retrieverPart = named.required(
    "retriever",
    named.child("retriever", "SimpleRetriever", "AsyncRetriever"),
  );
  if (cursorPart?.type === "IncrementingCountCursor" && retrieverPart.get("partition_router"))
    throw new Unsupported(cursorPart.path, "is not supported beside a partition router");
  const migrate = compileStateMigration(named, retrieverPart);
  const retriever = (
    retrieverPart.type === "AsyncRetriever" ? compileAsyncRetriever : compileRetriever
  )(retrieverPart, {
    ...{
      plan,
      openParent,
      transformations: named.children("transformations", ...transformationTypes),
    },
    schema() {
      const { schema, asking } = known ?? compileSchema(named, name, files);
      if (asking.length === 0) return schema;
      throw new Unsupported(
        named.at("retriever.record_selector.schema_normalization"),
        "is Default, which is not supported here for a schema that the provider lists",
      );
    },
  });
  reaches.push(retriever.reach);
  const { schema: declared = { type: "object", properties: {} }, asking = [] } = known ?? {};
  const loaders = asking.map((loader) => {
    const own = ownPartOf(loader);
    if (own) return (ctx: ManifestContext) => propertiesWith(own, ctx, retriever.scope(ctx));
    const listing = compileRetriever(
      loader.required("retriever", loader.child("retriever", "SimpleRetriever")),
      { plan: undefined, openParent, transformations: [], schema: () => ({}) },
    );
    reaches.push(listing.reach);
    const toProperties = compileDynamicSchema(loader);
    return async (ctx: ManifestContext) =>
      toProperties(await firstRecord(listing, ctx), listing.scope(ctx));
  });
  const cursorField =
    plan && isPlainName(cursorPart?.get("cursor_field")) ? plan.fieldTemplate.text({}) : undefined;
  const schema = withCursorAsText(declared, cursorField, cursorPart);
  const properties = schema.properties as JsonObject;
  if (known && cursorField !== undefined && asking.length === 0 && !isTemplate)
    if (!Object.hasOwn(properties, cursorField))
      throw new Unsupported(named.at("schema_loader"), `lacks the cursor field ${cursorField}`);
  const stream: Stream = {
    name,
    schema: schema as never,
    primaryKey: primaryKeyOf(named),
    cursorField,
    syncModes: cursorField === undefined ? ["full_refresh"] : ["full_refresh", "incremental"],
  };
  const made: ManifestStream = {
    name,
    stream,
    ...(loaders.length === 0
      ? {}
      : {
          async discover(ctx: ManifestContext) {
            const all = { ...properties };
            for (const load of loaders) Object.assign(all, await load(ctx));
            if (cursorField !== undefined) all[cursorField] ??= {};
            return { ...stream, schema: { ...schema, properties: all } as never };
          },
        }),
    reach: together(reaches),
    open: (ctx, state) => retriever.open(ctx, migrate(state, retriever.scope(ctx))),
    read: retriever.read,
    forState: () => made,
  };
  return made;
}

/**
 * The schema, with the cursor as any text where its own formats cannot be a `date-time`: a value
 * that does not fit would be null, and a record without a cursor cannot be written.
 */
function withCursorAsText(
  schema: JsonObject,
  field: string | undefined,
  cursor: Component | undefined,
): JsonObject {
  const properties = schema.properties as JsonObject;
  const own = field === undefined ? undefined : properties[field];
  const formats = [cursor?.get("cursor_datetime_formats") ?? [], cursor?.get("datetime_format")];
  const isText = formats.flat().every((one) => !String(one ?? "T").includes("T"));
  if (field === undefined || !isJsonObject(own) || own.format !== "date-time" || !isText)
    return schema;
  const { format: _, ...rest } = own;
  return { ...schema, properties: { ...properties, [field]: rest } };
}

/** How a stream is compiled on which another depends. @param reaches takes what it needs */
export function openParentOf(
  child: string,
  depth: number,
  files: SchemaFiles,
  reaches: Reach[],
): (part: Component) => ParentStream {
  return (part) => {
    const name = toText(part.get("name") as string) || child;
    const parent = compileOpened(part, name, depth + 1, files);
    reaches.push(parent.reach);
    return toParent(parent);
  };
}

async function firstRecord({ open, read }: Retriever, ctx: ManifestContext) {
  for await (const slice of open(ctx, {}).slices())
    for await (const [row] of read(ctx, slice)) if (row) return row;
  return undefined;
}

/** Two streams of one name: the one that reads all, and the one that goes on from a state. */
function compileDelegating(
  named: Component,
  name: string,
  depth: number,
  files: SchemaFiles,
): ManifestStream {
  const [full, later] = (["full_refresh_stream", "incremental_stream"] as const).map((part) => {
    const one = named.required(part, named.child(part, "DeclarativeStream"));
    if (one.get("name") !== name) throw invalid(one.at("name"), `must be ${name}, as the stream's`);
    return compileOpened(one, name, depth, files);
  }) as [ManifestStream, ManifestStream];
  const { cursorField } = later.stream;
  return {
    ...full,
    stream: { ...later.stream, ...full.stream, ...later.stream, schema: full.stream.schema },
    reach: together([full.reach, later.reach]),
    forState: (state) =>
      Object.keys(state).length > 0
        ? later
        : cursorField === undefined
          ? full
          : { ...full, finalState: finishedState },
  };
}

const together = (reaches: readonly Reach[]): Reach => ({
  origins: reaches.flatMap(({ origins }) => origins),
  minted: reaches.flatMap(({ minted }) => minted),
  authenticators: reaches.flatMap(({ authenticators }) => authenticators),
});

const isPlainName = (value: JsonValue | undefined) =>
  typeof value === "string" && !value.includes("{");

/** Its records, for the streams that are read by them. */
function toParent(parent: ManifestStream): ParentStream {
  return {
    name: parent.name,
    read(ctx, _, state = {}) {
      const { open, read } = parent.forState(state);
      const run = open(ctx, state);
      return {
        async *records() {
          for await (const slice of run.slices()) {
            for await (const page of read(ctx, slice))
              for (const record of page) yield { record, partition: slice.partition.values };
            slice.close();
          }
          run.finish();
        },
        state: run.state,
      };
    },
  };
}

function primaryKeyOf(stream: Component): string[] {
  const key = stream.get("primary_key") ?? [];
  const fields = (Array.isArray(key) ? key : [key]).flat();
  const isNested = Array.isArray(key) && key.some((one) => Array.isArray(one) && one.length > 1);
  if (isNested || fields.some((one) => typeof one !== "string"))
    throw new Unsupported(
      stream.at("primary_key"),
      "is not a field, or a list of fields of the record, which is not supported here",
    );
  return fields.filter((one) => one !== "") as string[];
}
