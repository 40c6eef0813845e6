/** SimpleRetriever: the pages of a slice, from its first request to its last record. */
import type { MintedTokens } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import type { Component } from "./document/component.ts";
import { Unsupported } from "./document/invalid.ts";
import { clockName, type Scope } from "./expressions/evaluate.ts";
import { isMapping, toText } from "./expressions/values.ts";
import { compileQueryProperties } from "./query-properties.ts";
import { compileDecoder, scopeOf } from "./records/answer.ts";
import { compileSelector, type PlainRecord } from "./records/selector.ts";
import { compilePaginator, type SeenPage } from "./requests/paginator.ts";
import { nothingAdded } from "./requests/request-option.ts";
import { compileRequester } from "./requests/requester.ts";
import type { CursorPlan } from "./slices/cursor.ts";
import { openSlices, type Slice, type SliceRun } from "./slices/incremental.ts";
import type { ManifestContext } from "./slices/partition.ts";
import { compilePartitions, type ParentStream } from "./slices/partitions.ts";

/** The network that a part of a manifest needs. */
export interface Reach {
  readonly origins: readonly string[];
  readonly minted: readonly MintedTokens[];
  /** Parts of the document in which credentials may stand. */
  readonly authenticators: readonly JsonValue[];
}

export interface Retriever {
  readonly reach: Reach;
  /** @param state of an earlier read; empty when there was none */
  open(ctx: ManifestContext, state: JsonObject): SliceRun;
  /** The pages of a slice. */
  read(ctx: ManifestContext, slice: Slice): AsyncGenerator<PlainRecord[]>;
  /** The values of expressions that belong to no request. */
  scope(ctx: ManifestContext): Scope;
}

export interface RetrieverOptions {
  readonly transformations: readonly Component[];
  readonly plan: CursorPlan | undefined;
  /**
   * The schema of the records, for who asks for it.
   * @throws CONNECTOR_INVALID when it is not known
   */
  readonly schema: () => JsonObject;
  /** Compiles a stream on which this one depends. */
  readonly openParent: (stream: Component) => ParentStream;
}

export function compileRetriever(retriever: Component, options: RetrieverOptions): Retriever {
  const { transformations, plan, schema, openParent } = options;
  const decode = compileDecoder(retriever);
  const requesterPart = retriever.child("requester", "HttpRequester");
  const requester = compileRequester(retriever.required("requester", requesterPart));
  const selectorPart = retriever.required(
    "record_selector",
    retriever.child("record_selector", "RecordSelector"),
  );
  refuseSummedOffsets(selectorPart, retriever);
  const select = compileSelector(
    selectorPart,
    ...([transformations, plan?.isClientSide === true, schema] as const),
  );
  const paginator = compilePaginator(
    retriever.child("paginator", "DefaultPaginator", "NoPagination"),
  );
  const partitions = compilePartitions(retriever, openParent);
  const namesOf = compileSliceNames(retriever, transformations);
  const listings: Retriever[] = [];
  const properties = compileQueryProperties(
    retriever.required("requester", requesterPart),
    (one) => {
      const listing = compileRetriever(one, {
        ...{ openParent, transformations: [], plan: undefined, schema: () => ({}) },
      });
      listings.push(listing);
      return listing;
    },
  );
  const isBareLater =
    retriever.get("ignore_stream_slicer_parameters_on_paginated_requests") === true;
  const own = (ctx: ManifestContext): Scope => ({
    config: ctx.config as Scope,
    parameters: retriever.parameters as Scope,
    [clockName]: ctx.clock.now(),
  });

  async function* read(ctx: ManifestContext, slice: Slice): AsyncGenerator<PlainRecord[]> {
    const { partition, window, cursor } = slice;
    const scope: Scope = { ...own(ctx), ...namesOf(slice) };
    const isNew = cursor ? (record: PlainRecord) => cursor.isNew(record) : undefined;
    const used = new Set<string>();
    let before = "";
    for (let token = paginator.first; ; ) {
      const added = nothingAdded();
      const next_page_token = token === undefined ? null : { next_page_token: token };
      const asking: Scope = { ...scope, next_page_token };
      paginator.inject(added, token, asking);
      if (token === undefined || !isBareLater) {
        partitions.inject(added, partition.values, asking);
        plan?.inject(added, window, asking);
      }
      const chunks = (await properties?.chunks(ctx)) ?? [undefined];
      const merged = createMerge(properties?.keyOf);
      let answered: Scope | undefined;
      let extracted = 0;
      for (const chunk of chunks) {
        const own = chunk ? withProperties(asking, chunk) : asking;
        if (chunk && properties?.parameter !== undefined)
          added.request_parameter[properties.parameter] = chunk.join(",");
        const answer = await requester.send(ctx, own, added);
        if (!answer) continue;
        const bodies = decode(answer);
        answered = { ...own, ...scopeOf(answer, bodies) };
        const found = select(bodies, answered, plan?.isClientSide ? isNew : undefined);
        // Counted pages have no token of the provider's that could come again.
        if (paginator.isCounted && chunk === undefined && found.extracted > 0) {
          if (answer.text() === before) throw new ConnectorError("PAGING_LOOP");
          before = answer.text();
        }
        merged.add(found.rows);
        extracted = found.extracted;
      }
      if (!answered) return;
      const rows = merged.rows();
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

  return {
    reach: {
      origins: [requester.origins, ...listings.map(({ reach }) => reach.origins)].flat(),
      minted: [requester.minted, ...listings.map(({ reach }) => reach.minted)].flat(),
      authenticators: [
        requesterPart?.get("authenticator") ?? null,
        ...listings.flatMap(({ reach }) => reach.authenticators),
      ],
    },
    scope: own,
    open: (ctx, state) => openSlices(ctx, own(ctx), plan, partitions, state),
    read,
  };
}

/**
 * The offset of a page is counted in records: those of several lists together are more than a page.
 * @throws CONNECTOR_INVALID for a stream that counts so
 */
function refuseSummedOffsets(selector: Component, retriever: Component): void {
  const isSummed = (part: JsonValue | undefined): boolean =>
    isJsonObject(part) &&
    part.type === "CombinedExtractor" &&
    ((part.mode ?? "union") === "union" ||
      (Array.isArray(part.extractors) && part.extractors.some(isSummed)));
  const paginator = retriever.get("paginator");
  const strategy = isJsonObject(paginator) ? paginator.pagination_strategy : undefined;
  const isOffset = isJsonObject(strategy) && strategy.type === "OffsetIncrement";
  if (isOffset && isSummed(selector.get("extractor")))
    throw new Unsupported(
      selector.at("extractor"),
      "is a union, which no OffsetIncrement can count",
    );
}

/** The scope where a request asks for some properties. */
function withProperties(scope: Scope, properties: readonly string[]): Scope {
  const { extra_fields } = scope.stream_slice as { readonly extra_fields?: Scope };
  const slice = { ...(scope.stream_slice as Scope) };
  const value = { ...extra_fields, query_properties: properties };
  Object.defineProperty(slice, "extra_fields", { value });
  return { ...scope, stream_partition: slice, stream_slice: slice, stream_interval: slice };
}

/** Rows of several requests: those of one key become one row. */
function createMerge(keyOf: ((row: PlainRecord) => string | undefined) | undefined) {
  const plain: PlainRecord[] = [];
  const byKey = new Map<string, PlainRecord>();
  return {
    add(rows: readonly PlainRecord[]) {
      for (const row of rows) {
        const key = keyOf?.(row);
        if (key === undefined) plain.push(row);
        else byKey.set(key, mergeRows(byKey.get(key) ?? {}, row));
      }
    },
    rows: () => [...plain, ...byKey.values()],
  };
}

function mergeRows(first: PlainRecord, next: PlainRecord): PlainRecord {
  const made = { ...first };
  for (const [name, value] of Object.entries(next)) {
    const known = Object.hasOwn(made, name) ? made[name] : undefined;
    made[name] =
      isMapping(known) && isMapping(value) ? mergeRows({ ...known }, { ...value }) : value;
  }
  return made;
}

/**
 * The variables of a slice. Its state is made where an expression asks for it: that of many parts
 * is long.
 */
export function compileSliceNames(
  retriever: Component,
  transformations: readonly Component[],
): (slice: Slice) => Scope {
  const values = [retriever.value, ...transformations.map(({ value }) => value)];
  const asksForState = JSON.stringify(values).includes("stream_state");
  return (slice) => {
    const both = sliceScope(slice);
    return {
      ...{ stream_partition: both, stream_slice: both, stream_interval: both },
      ...(asksForState ? { stream_state: slice.before() as Scope } : {}),
    };
  };
}

/** The scope of a slice: its values, and beside them what expressions ask for by name. */
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
