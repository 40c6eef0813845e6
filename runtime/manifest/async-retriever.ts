/**
 * AsyncRetriever: exports that are ordered for a slice, awaited and then fetched. One is under way
 * at a time.
 */
import type { HttpResponse } from "../contract/context.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Component } from "./document/component.ts";
import { invalid } from "./document/invalid.ts";
import { clockName, type Scope } from "./expressions/evaluate.ts";
import { type PlainValue, toText } from "./expressions/values.ts";
import { compileDecoder, type Decode, scopeOf } from "./records/answer.ts";
import { compileCsvFile } from "./records/csv.ts";
import {
  compileExtractor,
  compilePath,
  compileSelector,
  type PlainRecord,
} from "./records/selector.ts";
import { compilePaginator } from "./requests/paginator.ts";
import { nothingAdded } from "./requests/request-option.ts";
import { compileRequester, type Requester } from "./requests/requester.ts";
import { compileSliceNames, type Retriever, type RetrieverOptions } from "./retriever.ts";
import { openSlices, type Slice } from "./slices/incremental.ts";
import type { ManifestContext } from "./slices/partition.ts";
import { compilePartitions } from "./slices/partitions.ts";

const pollMs = 5_000;
const usualMinutes = 60;
/** An export that fails is ordered again. */
const maxAttempts = 3;

const statuses = ["running", "completed", "failed", "timeout", "skipped"] as const;
type Status = (typeof statuses)[number];

/** An export that is ready, and what was answered on the way. */
interface Ready {
  readonly scope: Scope;
  readonly polled: HttpResponse;
}

export function compileAsyncRetriever(
  retriever: Component,
  { transformations, plan, schema, openParent }: RetrieverOptions,
): Retriever {
  const requesters: Requester[] = [];
  const parts: Component[] = [];
  const compile = (name: string) => {
    const part = retriever.child(name, "HttpRequester");
    if (!part) return undefined;
    const made = compileRequester(part);
    requesters.push(made);
    parts.push(part);
    return made;
  };
  const needed = (name: string) => retriever.required(name, compile(name));
  const creation = needed("creation_requester");
  const polling = needed("polling_requester");
  const download = needed("download_requester");
  const targetRequester = compile("download_target_requester");
  const abort = isSendable(retriever, "abort_requester") ? compile("abort_requester") : undefined;
  const decode = compileDecoder(retriever);
  const statusOf = compileStatus(retriever, decode);
  const targetPart = retriever.child("download_target_extractor", "DpathExtractor");
  const findTargets = targetPart && compilePath(targetPart, "field_path");
  if (targetRequester && !findTargets)
    throw invalid(retriever.at("download_target_extractor"), "is missing");
  const fetched = compileDownload(retriever);
  const paginator = compilePaginator(
    retriever.child("download_paginator", "DefaultPaginator", "NoPagination"),
  );
  const select = compileSelector(
    retriever.required("record_selector", retriever.child("record_selector", "RecordSelector")),
    ...([
      transformations,
      plan?.isClientSide === true,
      schema,
      (bodies: readonly PlainValue[]) => [...bodies] as PlainRecord[],
    ] as const),
  );
  const minutes = retriever.template("polling_job_timeout");
  const retrySeconds = retriever.template("failed_retry_wait_time_in_seconds");
  const partitions = compilePartitions(retriever, openParent);
  const namesOf = compileSliceNames(retriever, transformations);
  const own = (ctx: ManifestContext): Scope => ({
    config: ctx.config as Scope,
    parameters: retriever.parameters as Scope,
    [clockName]: ctx.clock.now(),
  });
  const numberOf = (template: typeof minutes, scope: Scope, usual: number) =>
    Number(toText(template?.value(scope) ?? usual)) || usual;

  /** Orders an export and waits for it; nothing where the provider has nothing to give. */
  async function order(ctx: ManifestContext, scope: Scope): Promise<Ready | undefined> {
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const created = await creation.send(ctx, scope, nothingAdded());
      if (!created) throw unusable("an export was not taken on");
      const ordered = { ...scope, creation_response: responseOf(created) };
      const untilMs = ctx.clock.now() + numberOf(minutes, scope, usualMinutes) * 60_000;
      for (;;) {
        const polled = await polling.send(ctx, ordered, nothingAdded());
        if (!polled) throw unusable("it says nothing of an export");
        const status = ctx.clock.now() > untilMs ? "timeout" : statusOf(polled, ordered);
        if (status === "completed")
          return { polled, scope: { ...ordered, polling_response: responseOf(polled) } };
        if (status === "skipped") return undefined;
        if (status === "timeout") await abort?.send(ctx, ordered, nothingAdded());
        if (status === "failed" && retrySeconds)
          await ctx.clock.sleep(numberOf(retrySeconds, scope, 1) * 1_000, ctx.signal);
        if (status !== "running") break;
        await ctx.clock.sleep(pollMs, ctx.signal);
      }
    }
    throw unusable(`an export failed ${maxAttempts} times`);
  }

  async function targetsOf(ctx: ManifestContext, { polled, scope }: Ready): Promise<PlainValue[]> {
    if (!findTargets) return [""];
    const answer = targetRequester
      ? await targetRequester.send(ctx, scope, nothingAdded())
      : polled;
    if (!answer) throw unusable("it does not say where an export is");
    return decode(answer).flatMap((body) => findTargets(body, scope).found.flat());
  }

  async function* read(ctx: ManifestContext, slice: Slice): AsyncGenerator<PlainRecord[]> {
    const ready = await order(ctx, { ...own(ctx), ...namesOf(slice) });
    if (!ready) return;
    const { cursor } = slice;
    const isNew =
      cursor && plan?.isClientSide ? (row: PlainRecord) => cursor.isNew(row) : undefined;
    for (const target of await targetsOf(ctx, ready)) {
      const scope: Scope = { ...ready.scope, download_target: target };
      const used = new Set<string>();
      for (let token = paginator.first; ; ) {
        const asking =
          token === undefined ? scope : { ...scope, next_page_token: { next_page_token: token } };
        const added = nothingAdded();
        paginator.inject(added, token, asking);
        const answer = await download.send(ctx, asking, added);
        if (!answer) break;
        const bodies = fetched.decode(answer);
        const answered = { ...asking, ...scopeOf(answer, bodies) };
        const found = bodies.flatMap((body) => fetched.extract(body, answered));
        const { rows } = select(found, asking, isNew);
        for (const row of rows) slice.observe(row);
        yield rows;
        const last = { last_page_size: found.length, last_record: found.at(-1) ?? null };
        token = paginator.next({ size: found.length, scope: { ...answered, ...last } }, token);
        if (token === undefined) break;
        if (used.has(toText(token))) throw new ConnectorError("PAGING_LOOP");
        used.add(toText(token));
      }
    }
  }

  return {
    reach: {
      origins: requesters.flatMap(({ origins }) => origins),
      minted: requesters.flatMap(({ minted }) => minted),
      authenticators: parts.map((part) => part.get("authenticator") ?? null),
    },
    scope: own,
    open: (ctx, state) => openSlices(ctx, own(ctx), plan, partitions, state),
    read,
  };
}

const unusable = (reason: string) => new ConnectorError("RESPONSE_INVALID", { reason });

/** Whether it may be sent: a request that clears up with another method is left out. */
function isSendable(retriever: Component, name: string): boolean {
  const method = retriever.child(name, "HttpRequester")?.get("http_method") ?? "GET";
  return ["GET", "POST"].includes(String(method).toUpperCase());
}

function compileStatus(retriever: Component, decode: Decode) {
  const extractor = retriever.required(
    "status_extractor",
    retriever.child("status_extractor", "DpathExtractor"),
  );
  const find = compilePath(extractor, "field_path");
  const mapping = retriever.required(
    "status_mapping",
    retriever.child("status_mapping", "AsyncJobStatusMap"),
  );
  const known = new Map<string, Status>();
  for (const status of statuses) {
    const own = mapping.get(status) ?? [];
    if (!Array.isArray(own)) throw invalid(mapping.at(status), "must be a list");
    for (const one of own) known.set(toText(one as PlainValue), status);
  }
  return (answer: HttpResponse, scope: Scope): Status => {
    const [body] = decode(answer);
    const status = known.get(toText(find(body, scope).found[0]));
    if (!status) throw unusable("an export has a status that the manifest does not name");
    return status;
  };
}

/** The download: documents of which an extractor takes records, or a file of CSV. */
function compileDownload(retriever: Component) {
  const extractor = retriever.child(
    "download_extractor",
    ...(["DpathExtractor", "ResponseToFileExtractor"] as const),
  );
  if (extractor?.type === "ResponseToFileExtractor")
    return {
      decode: compileCsvFile(extractor),
      extract: (body: PlainValue) => [body as PlainRecord],
    };
  return {
    decode: compileDecoder(retriever, "download_decoder"),
    extract: extractor ? compileExtractor(extractor) : (body: PlainValue) => [body as PlainRecord],
  };
}

/** An answer as expressions see it in `creation_response` and `polling_response`. */
function responseOf(answer: HttpResponse): PlainValue {
  const body = answer.json<PlainValue>();
  const fields = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  return { headers: answer.headers, ...(fields as Scope) };
}
