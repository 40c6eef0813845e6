/**
 * A source that is made of a declarative manifest, Airbyte's low-code form. It runs in the worker:
 * the document is a stranger's, and so is what its expressions do. Start at `loadManifest`.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { HttpContext } from "../contract/context.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { type Output, records } from "../contract/output.ts";
import type { Source } from "../contract/source.ts";
import type { Stream } from "../contract/stream.ts";
import { type Component, openComponent } from "./component.ts";
import { readDocument } from "./document.ts";
import { invalid } from "./invalid.ts";
import { toEgress } from "./origins.ts";
import { compilePaginator, type SeenPage } from "./paginator.ts";
import { compilePartitions, type Partition } from "./partitions.ts";
import { compileSelector, type Row } from "./records.ts";
import { compileRequester, nothingAdded } from "./requester.ts";
import { markSecrets } from "./settings.ts";
import type { Scope } from "./template.ts";
import { type PlainValue, toText } from "./values.ts";

type Context = HttpContext<JsonObject>;

interface ManifestStream {
  readonly stream: Stream;
  readonly origin: string;
  readonly authenticator: JsonValue;
  /** Its pages, of each partition one after another. */
  read(ctx: Context): AsyncGenerator<Row[]>;
}

/** @throws CONNECTOR_INVALID with the place, for what is wrong or not supported */
export async function loadManifest(url: string): Promise<Source> {
  const text = await readFile(new URL(url), "utf8");
  return toSource(text, nameOf(fileURLToPath(url)));
}

/** The name of a manifest is that of its file, or of its folder where the file's says nothing. */
function nameOf(path: string): string {
  const [folder = "", file = ""] = path.split(/[\\/]/).slice(-2);
  const stem = file.replace(/\.ya?ml$/, "");
  return (/^(?:manifest|source|index)$/.test(stem) ? folder : stem).replace(/^source[-_]/, "");
}

/** @param name of the connector, as people type it */
export function toSource(text: string, name: string): Source {
  const document = readDocument(text);
  const root = openComponent(document, "manifest", ["DeclarativeSource"]);
  const spec = root.child("spec", "Spec");
  const specification = spec?.get("connection_specification") ?? {};
  if (!isJsonObject(specification)) throw invalid("spec", "must be an object");
  root.child("concurrency_level", "ConcurrencyLevel");
  const streams = listOf(root.get("streams")).map(compileStream);
  if (streams.length === 0) throw invalid("manifest.streams", "must name a stream");
  const check = root.required("check", root.child("check", "CheckStream"));
  const wanted = check.get("stream_names");
  const checked = (Array.isArray(wanted) ? wanted : []).map((one) => {
    const found = streams.find(({ stream }) => stream.name === one);
    if (!found) throw invalid(check.at("stream_names"), "names a stream that is not there");
    return found;
  });
  const version = root.get("version");
  const title = specification.title ?? name;
  const documentationUrl = spec?.get("documentation_url");
  const find = (wantedName: string) => streams.find(({ stream }) => stream.name === wantedName);
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 60);
  return {
    id: `conn_${slug || "manifest"}`,
    version: typeof version === "string" && /^\d+\.\d+\.\d+$/.test(version) ? version : "0.0.0",
    title: String(title).slice(0, 100) || "Manifest",
    ...(typeof documentationUrl === "string" ? { documentationUrl } : {}),
    spec: markSecrets(
      specification,
      streams.map(({ authenticator }) => authenticator),
    ) as never,
    egress: toEgress(streams.map(({ origin }) => origin)) as never,
    streams: streams.map(({ stream }) => stream),
    async check(ctx) {
      for (const one of checked) for await (const _ of one.read(ctx as unknown as Context)) break;
    },
    async *read(ctx, { name: selected }): AsyncGenerator<Output<never>> {
      const stream = find(selected);
      if (!stream) throw new ConnectorError("STREAM_UNKNOWN", { stream: selected });
      for await (const page of stream.read(ctx as unknown as Context)) yield records(page);
    },
  };
}

const listOf = (value: JsonValue | undefined) => (Array.isArray(value) ? value : []);

function compileStream(value: JsonValue, index: number): ManifestStream {
  const { name: own, $parameters } = (isJsonObject(value) ? value : {}) as JsonObject;
  const name = own ?? (isJsonObject($parameters) ? $parameters.name : undefined);
  if (typeof name !== "string" || name === "") throw invalid(`streams.${index}.name`, "is missing");
  const named = openComponent(value, `streams.${name}`, ["DeclarativeStream"]);
  const retriever = named.required("retriever", named.child("retriever", "SimpleRetriever"));
  retriever.child("decoder", "JsonDecoder");
  const requesterPart = retriever.child("requester", "HttpRequester");
  const requester = compileRequester(retriever.required("requester", requesterPart));
  const select = compileSelector(
    retriever.required("record_selector", retriever.child("record_selector", "RecordSelector")),
    named.children("transformations", "AddFields", "RemoveFields"),
  );
  const paginator = compilePaginator(
    retriever.child("paginator", "DefaultPaginator", "NoPagination"),
  );
  const partitions = compilePartitions(
    retriever.children("partition_router", "ListPartitionRouter"),
  );

  async function* readPartition(ctx: Context, partition: Partition): AsyncGenerator<Row[]> {
    const scope: Scope = {
      config: ctx.config as Scope,
      parameters: retriever.parameters as Scope,
      stream_partition: partition,
      stream_slice: partition,
    };
    const used = new Set<string>();
    for (let token = paginator.first; ; ) {
      const added = nothingAdded();
      const asking: Scope =
        token === undefined ? scope : { ...scope, next_page_token: { next_page_token: token } };
      partitions.inject(added, partition, asking);
      paginator.inject(added, token, asking);
      const answer = await requester.send(ctx, asking, added);
      const response = answer.json<PlainValue>();
      const headers = answer.headers as Scope;
      const rows = select(response, { ...asking, response, headers });
      const page: SeenPage = {
        size: rows.length,
        scope: {
          ...{ ...asking, response, headers },
          last_page_size: rows.length,
          last_record: rows.at(-1) ?? null,
        },
      };
      yield rows;
      token = paginator.next(page, token);
      if (token === undefined) return;
      if (used.has(toText(token))) throw new ConnectorError("PAGING_LOOP");
      used.add(toText(token));
    }
  }

  return {
    stream: {
      name,
      schema: schemaOf(named) as never,
      primaryKey: primaryKeyOf(named),
      syncModes: ["full_refresh"],
    },
    origin: requester.origin,
    authenticator: requesterPart?.get("authenticator") ?? null,
    async *read(ctx) {
      const scope: Scope = {
        config: ctx.config as Scope,
        parameters: retriever.parameters as Scope,
      };
      for (const partition of partitions.list(scope)) yield* readPartition(ctx, partition);
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
