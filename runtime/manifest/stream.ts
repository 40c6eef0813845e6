/** A stream of a manifest: its retriever's pages, part by part and window by window. */
import type { HttpContext } from "../contract/context.ts";
import type { MintedTokens } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import type { Stream } from "../contract/stream.ts";
import { type Component, openComponent } from "./document/component.ts";
import { invalid } from "./document/invalid.ts";
import { clockName, type Scope } from "./expressions/template.ts";
import { toText } from "./expressions/values.ts";
import { compileDecoder, scopeOf } from "./records/answer.ts";
import { compileSelector, type Row } from "./records/selector.ts";
import { transformationTypes } from "./records/transformations.ts";
import { compilePaginator, type SeenPage } from "./requests/paginator.ts";
import { nothingAdded } from "./requests/request-option.ts";
import { compileRequester } from "./requests/requester.ts";
import { compileCursor } from "./slices/cursor.ts";
import { openSlices, type Slice, type SliceRun } from "./slices/incremental.ts";
import { compilePartitions, type ParentStream } from "./slices/partitions.ts";

export type Context = HttpContext<JsonObject>;

export interface ManifestStream {
  readonly name: string;
  readonly stream: Stream;
  readonly origins: readonly string[];
  readonly minted: readonly MintedTokens[];
  /** Parts of the document in which credentials may stand. */
  readonly authenticators: readonly JsonValue[];
  /** @param state of an earlier read; empty when there was none */
  open(ctx: Context, state: JsonObject): SliceRun;
  /** The pages of a slice. */
  read(ctx: Context, slice: Slice): AsyncGenerator<Row[]>;
}

/** Its name, for messages, whether the rest of it is supported or not. */
export function nameOf(value: JsonValue, index: number): string {
  const { name: own, $parameters } = (isJsonObject(value) ? value : {}) as JsonObject;
  const name = own ?? (isJsonObject($parameters) ? $parameters.name : undefined);
  if (typeof name !== "string" || name === "") throw invalid(`streams.${index}.name`, "is missing");
  return name;
}

/** How deep streams may be read by records of others. */
const maxParents = 8;

export function compileStream(value: JsonValue, index: number): ManifestStream {
  const name = nameOf(value, index);
  return compileOpened(openComponent(value, `streams.${name}`, ["DeclarativeStream"]), name, 0);
}

function compileOpened(named: Component, name: string, depth: number): ManifestStream {
  if (depth > maxParents) throw invalid(named.path, `has more than ${maxParents} parents in a row`);
  const retriever = named.required("retriever", named.child("retriever", "SimpleRetriever"));
  const decode = compileDecoder(retriever);
  const requesterPart = retriever.child("requester", "HttpRequester");
  const requester = compileRequester(retriever.required("requester", requesterPart));
  const cursorPart = named.child("incremental_sync", "DatetimeBasedCursor");
  const plan = cursorPart && compileCursor(cursorPart);
  const select = compileSelector(
    retriever.required("record_selector", retriever.child("record_selector", "RecordSelector")),
    named.children("transformations", ...transformationTypes),
    plan?.isClientSide === true,
  );
  const paginator = compilePaginator(
    retriever.child("paginator", "DefaultPaginator", "NoPagination"),
  );
  const parents: ManifestStream[] = [];
  const partitions = compilePartitions(
    retriever.children("partition_router", "ListPartitionRouter", "SubstreamPartitionRouter"),
    (part) => {
      const parent = compileOpened(part, toText(part.get("name") as string) || name, depth + 1);
      parents.push(parent);
      return toParent(parent);
    },
  );
  const isBareLater =
    retriever.get("ignore_stream_slicer_parameters_on_paginated_requests") === true;
  const own = (ctx: Context): Scope => ({
    config: ctx.config as Scope,
    parameters: retriever.parameters as Scope,
    [clockName]: ctx.clock.now(),
  });

  async function* read(ctx: Context, slice: Slice): AsyncGenerator<Row[]> {
    const { partition, window, cursor } = slice;
    const both = sliceScope(slice);
    const scope: Scope = {
      ...own(ctx),
      ...{ stream_partition: both, stream_slice: both, stream_interval: both },
    };
    const isNew = cursor ? (record: Row) => cursor.isNew(record) : undefined;
    const used = new Set<string>();
    for (let token = paginator.first; ; ) {
      const added = nothingAdded();
      const asking: Scope =
        token === undefined ? scope : { ...scope, next_page_token: { next_page_token: token } };
      paginator.inject(added, token, asking);
      if (token === undefined || !isBareLater) {
        partitions.inject(added, partition.values, asking);
        plan?.inject(added, window, asking);
      }
      const answer = await requester.send(ctx, asking, added);
      if (!answer) return;
      const bodies = decode(answer);
      const answered = { ...asking, ...scopeOf(answer, bodies) };
      const { rows, extracted } = select(bodies, answered, plan?.isClientSide ? isNew : undefined);
      const page: SeenPage = {
        size: extracted,
        scope: { ...answered, last_page_size: rows.length, last_record: rows.at(-1) ?? null },
      };
      const kept = plan?.isDataFeed && isNew ? rows.filter(isNew) : rows;
      for (const row of kept) slice.observe(row);
      yield kept;
      const last = rows.at(-1);
      // A feed begins with what is newest: what is known already ends it.
      if (plan?.isDataFeed && last && isNew?.(last) === false) return;
      token = paginator.next(page, token);
      if (token === undefined) return;
      if (used.has(toText(token))) throw new ConnectorError("PAGING_LOOP");
      used.add(toText(token));
    }
  }

  const schema = depth === 0 ? schemaOf(named) : { type: "object", properties: {} };
  const cursorField =
    plan && isPlainName(cursorPart?.get("cursor_field")) ? plan.fieldTemplate.text({}) : undefined;
  const properties = schema.properties as JsonObject;
  if (depth === 0 && cursorField !== undefined && !Object.hasOwn(properties, cursorField))
    throw invalid(named.at("schema_loader"), `lacks the cursor field ${cursorField}`);
  return {
    name,
    stream: {
      name,
      schema: schema as never,
      primaryKey: primaryKeyOf(named),
      ...(cursorField === undefined ? {} : { cursorField }),
      syncModes: cursorField === undefined ? ["full_refresh"] : ["full_refresh", "incremental"],
    },
    origins: [requester.origin, ...parents.flatMap(({ origins }) => origins)],
    minted: [...requester.minted, ...parents.flatMap(({ minted }) => minted)],
    authenticators: [
      requesterPart?.get("authenticator") ?? null,
      ...parents.flatMap(({ authenticators }) => authenticators),
    ],
    open: (ctx, state) => openSlices(ctx, own(ctx), plan, partitions, state),
    read,
  };
}

/** What expressions see of a slice: its values, and beside them what they ask for by name. */
function sliceScope({ partition, window }: Slice): Scope {
  const hidden = {
    partition: partition.values,
    cursor_slice: window,
    extra_fields: partition.extra,
  };
  const made = { ...partition.values, ...window };
  for (const [name, value] of Object.entries(hidden))
    if (!Object.hasOwn(made, name)) Object.defineProperty(made, name, { value });
  return made;
}

const isPlainName = (value: JsonValue | undefined) =>
  typeof value === "string" && !value.includes("{");

/** Its records, for the streams that are read by them. */
function toParent({ name, open, read }: ManifestStream): ParentStream {
  return {
    name,
    read(ctx, _, state) {
      const run = open(ctx, state ?? {});
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

function schemaOf(stream: Component): JsonObject {
  const loader = stream.child("schema_loader", "InlineSchemaLoader");
  const schema = stream.required("schema_loader", loader).get("schema");
  if (!isJsonObject(schema) || !isJsonObject(schema.properties))
    throw invalid(stream.at("schema_loader"), "must have a schema with properties");
  return { ...schema, type: "object" };
}

function primaryKeyOf(stream: Component): string[] {
  const key = stream.get("primary_key") ?? [];
  const fields = (Array.isArray(key) ? key : [key]).flat();
  const isNested = Array.isArray(key) && key.some((one) => Array.isArray(one) && one.length > 1);
  if (isNested || fields.some((one) => typeof one !== "string"))
    throw invalid(stream.at("primary_key"), "must be a field, or a list of fields of the record");
  return fields.filter((one) => one !== "") as string[];
}
