/**
 * A provider that is made of a manifest: an endpoint for each of its streams, rows of its schema
 * where its extractor looks for them, in pages as its paginator wants them. It knows nothing of the
 * real provider; both interpreters ask it.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../runtime/contract/json.ts";
import { answerJson, type Handler, type ReceivedRequest } from "../../simulators/loopback.ts";

interface Endpoint {
  readonly stream: string;
  readonly pattern: RegExp;
  /** Its end, where the base is one of several. */
  readonly ending: RegExp;
  /** Expressions in its path: what has fewer is meant first. */
  readonly loose: number;
  readonly fields: JsonObject;
  /** Fields of its primary key. */
  readonly keys: readonly string[];
  /** Where its extractor looks. */
  readonly path: readonly string[];
  readonly cursor: { readonly field: string; readonly format: string } | undefined;
  /** The parameter that says which page is meant. */
  readonly token: string | undefined;
  /** Parts of an answer that say whether there is a next page, and by which token. */
  readonly next: readonly (readonly string[])[];
  /** The token is a URL, or something in one. */
  readonly isLinked: boolean;
  readonly size: number;
}

/** More pages than this are none of a paginator's that ends. */
const maxPages = 12;
/** As many rows as a page may have that is full; larger ones are never full. */
const maxRows = 120;
/** Where no page is full. */
const fewRows = 3;

const minted = "minted-tok-Zq81LmNx72Kp";

/**
 * @param schemaOf the schema in the file of a stream's name
 * @param secrets one of which a request has to carry, where an earlier one to the same place did
 */
export function createMadeProvider(
  document: JsonObject,
  schemaOf: (stream: string) => JsonObject | undefined,
  secrets: readonly string[],
) {
  const known = [...secrets, minted];
  const guarded = new Set<Endpoint>();
  const endpoints = endpointsOf(document, schemaOf);
  let reading = "";
  let pages = new Map<string, string[]>();

  /** Which page of its part a request asks for, however often it does. */
  function pageOf(key: string, token: string): number {
    const known = pages.get(key) ?? [];
    pages.set(key, known);
    if (!known.includes(token)) known.push(token);
    return known.indexOf(token);
  }

  const handle: Handler = (request, response) => {
    const scheme = request.host.startsWith("127.0.0.1") ? "http" : "https";
    const url = new URL(request.url.replace(/^\/+/, "/"), `${scheme}://${request.host}`);
    const exact = endpoints.filter(({ pattern }) => pattern.test(url.pathname));
    const close = endpoints.filter(({ ending }) => ending.test(url.pathname));
    const found = (exact.length > 0 ? exact : close).toSorted(
      (a, b) => Number(b.stream === reading) - Number(a.stream === reading),
    )[0];
    const isLogin = request.method === "POST" && /token|oauth|login|session/.test(url.pathname);
    if (!found && isLogin && secrets.length > 0 && !isCarrying(request, known))
      return answerJson(response, 401, { message: "nobody is known by that" });
    if (!found && isLogin)
      return answerJson(response, 200, {
        ...{ access_token: minted, token: minted },
        ...{ expires_in: 3600, id: "session-Vb73QwErTy91Uz" },
      });
    if (!found) return answerJson(response, 404, { message: `nothing at ${url.pathname}` });
    if (isCarrying(request, known)) guarded.add(found);
    else if (guarded.has(found)) return answerJson(response, 401, { message: "not signed in" });
    const asked = { ...Object.fromEntries(url.searchParams), ...bodyOf(request) };
    const { [found.token ?? "page-of-link"]: token = "", ...part } = asked;
    const page = pageOf(JSON.stringify([url.pathname, part]), String(token));
    if (page > maxPages) return answerJson(response, 400, { message: "pages without an end" });
    answerJson(response, 200, pageIn(found, page, url));
  };
  return {
    handle,
    /** Nothing was asked yet, for this stream. */
    restart(stream: string) {
      reading = stream;
      pages = new Map();
    },
  };
}

/** Whether a secret stands anywhere in a request. */
function isCarrying({ url, headers, body }: ReceivedRequest, secrets: readonly string[]): boolean {
  const [, basic = ""] = /^Basic (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const text = [
    decodeURIComponent(url),
    JSON.stringify(headers),
    body,
    Buffer.from(basic, "base64"),
  ];
  return secrets.some((secret) => text.join("\n").includes(secret));
}

function pageIn(endpoint: Endpoint, page: number, url: URL): JsonValue {
  const { path, next, isLinked, size } = endpoint;
  const count = page === 0 ? size : page === 1 ? 1 : 0;
  // Parts have rows of their own.
  const shift = endpoint.loose > 1 ? 1_000 * (1 + (hashOf(url.pathname) % 1_000_000)) : 0;
  const rows = Array.from({ length: count }, (_, index) =>
    rowOf(endpoint, page * size + index, shift),
  );
  let made: JsonValue = rows;
  for (const step of [...path].reverse()) made = step === "*" ? [made].flat() : { [step]: made };
  if (!isJsonObject(made)) return made;
  for (const place of next) put(made, place, page === 0 ? nextToken(place, url, isLinked) : null);
  return made;
}

/** A whole URL where its name says so. */
function nextToken(place: readonly string[], url: URL, isLinked: boolean): JsonValue {
  const name = place.at(-1) ?? "";
  if (/^(?:has|is|more)/i.test(name)) return true;
  if (!isLinked || !/url|link|next|href/i.test(name)) return "page-2";
  const next = new URL(url);
  next.searchParams.set("page-of-link", "2");
  return next.href;
}

function put(value: JsonObject, [name = "", ...rest]: readonly string[], made: JsonValue): void {
  if (rest.length === 0) {
    value[name] ??= made;
    return;
  }
  value[name] ??= {};
  const inner = value[name];
  if (isJsonObject(inner)) put(inner, rest, made);
}

const hashOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE();

/** @param shift of its keys */
function rowOf({ fields, keys, cursor }: Endpoint, index: number, shift: number): JsonObject {
  const row = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => {
      const isKey = keys.includes(name) || /^(?:id|uuid|key|\w+_id)$/i.test(name);
      return [name, valueFor(schema, name, isKey ? index + shift : index)];
    }),
  );
  if (cursor) row[cursor.field] = instantIn(cursor.format, index % 4);
  return row;
}

/** A text for a field. What may be a secret has nothing of its name: that is found elsewhere too. */
const textFor = (name: string, index: number): string =>
  /secret|token|password|session|key$/i.test(name)
    ? `Qx${hashOf(name)}-${index}`
    : `${name}-${index}`;

/** A value of the first type that a schema has besides null. */
function valueFor(schema: JsonValue | undefined, name: string, index: number): JsonValue {
  if (!isJsonObject(schema)) return textFor(name, index);
  const { anyOf, oneOf, items, properties, format } = schema;
  const [first] = [anyOf ?? oneOf ?? []]
    .flat()
    .filter((one) => isJsonObject(one) && one.type !== "null");
  if (schema.type === undefined && first !== undefined) return valueFor(first, name, index);
  if (Array.isArray(schema.enum)) return schema.enum.find((one) => one !== null) ?? null;
  const types = [schema.type ?? (properties ? "object" : items ? "array" : "string")].flat();
  switch (types.find((one) => one !== "null")) {
    case undefined:
      return null;
    case "integer":
      return /id$/i.test(name) ? 100 + index : index + 1;
    case "number":
      return index + 0.5;
    case "boolean":
      return index % 2 === 0;
    case "array":
      return isJsonObject(items) && Object.keys(items).length > 0
        ? [valueFor(items, "item", index)]
        : [];
    case "object":
      return Object.fromEntries(
        Object.entries(isJsonObject(properties) ? properties : {}).map(([inner, one]) => [
          inner,
          valueFor(one, inner, index),
        ]),
      );
  }
  const day = new Date(Date.UTC(2026, 0, 1 + (index % 9))).toISOString().replace(".000", "");
  if (format === "date-time") return day;
  return format === "date" ? day.slice(0, 10) : textFor(name, index);
}

/** A moment as Python's `strftime` writes it, some days into the year. */
function instantIn(format: string, step: number): JsonValue {
  const at = new Date(Date.UTC(2026, 0, 2 + step * 3, 6, 30));
  if (format === "%s") return at.getTime() / 1000;
  if (format === "%ms") return at.getTime();
  const iso = at.toISOString();
  const parts: Record<string, string> = {
    ...{ "%Y": iso.slice(0, 4), "%m": iso.slice(5, 7), "%d": iso.slice(8, 10) },
    ...{ "%H": iso.slice(11, 13), "%M": iso.slice(14, 16), "%S": iso.slice(17, 19) },
    ...{ "%f": "000000", "%_ms": "000", "%z": "+0000" },
  };
  return format.replace(/%_ms|%[YmdHMSfz]/g, (one) => parts[one] ?? one);
}

function bodyOf({ body }: ReceivedRequest): JsonObject {
  try {
    const made: JsonValue = JSON.parse(body);
    return isJsonObject(made) ? made : {};
  } catch {
    return Object.fromEntries(new URLSearchParams(body));
  }
}

const parameter = /\{\{\s*parameters(?:\.(\w+)|\[\s*['"](\w+)['"]\s*\])[^}]*\}\}/g;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function endpointsOf(
  document: JsonObject,
  schemaOf: (stream: string) => JsonObject | undefined,
): Endpoint[] {
  const endpoints: Endpoint[] = [];
  const add = (stream: JsonValue | undefined, isBeside: boolean): void => {
    if (!isJsonObject(stream)) return;
    const retriever = partOf(stream, "retriever");
    const requester = partOf(retriever, "requester");
    const given = { ...partOf(stream, "$parameters"), ...partOf(requester, "$parameters") };
    const name = String(stream.name ?? given.name);
    const fill = (text: unknown) =>
      String(text ?? "").replace(parameter, (_, dotted, listed) =>
        String(given[dotted ?? listed] ?? ""),
      );
    const base = fill(requester.url_base ?? requester.url).trim();
    const below = base.replace(/^(?:https?:\/\/)?(?:\{\{.*?\}\}|[^/{]+)*/, "").replace(/\/+$/, "");
    const own = fill(requester.path ?? given.path).replace(/^\/+/, "");
    const parts = piecesOf(`${below}/${own}`.replace(/^\/*/, "/"));
    const extractor = partOf(partOf(retriever, "record_selector"), "extractor");
    const routers = [retriever.partition_router ?? []].flat().filter(isJsonObject);
    const parents = routers.flatMap(({ parent_stream_configs: one }) => [one ?? []].flat());
    const isOne = parents.length === 0 && routers.length === 0 && !isBeside;
    endpoints.push({
      stream: name,
      pattern: new RegExp(`^${parts.map(escaped).join("[^/]+")}/?$`),
      ending: new RegExp(`/${piecesOf(own).map(escaped).join("[^/]+")}/?$`),
      loose: parts.length,
      fields: fieldsOf(stream, () => schemaOf(name)),
      keys: [stream.primary_key ?? given.primary_key ?? []].flat(2).map(String),
      path: [extractor.field_path ?? []]
        .flat()
        .map(fill)
        .filter((step) => step !== ""),
      cursor: cursorOf(partOf(stream, "incremental_sync"), fill),
      ...pagingOf(partOf(retriever, "paginator"), isOne),
    });
    for (const one of parents) if (isJsonObject(one)) add(one.stream, true);
  };
  for (const stream of [document.streams ?? []].flat()) add(stream, false);
  return endpoints.sort(
    (a, b) => a.loose - b.loose || b.pattern.source.length - a.pattern.source.length,
  );
}

/** The fixed texts of a path, between its expressions. */
const piecesOf = (path: string): string[] =>
  (path.split("?")[0] ?? "").split(/\{\{.*?\}\}|\{%.*?%\}/);

const partOf = (value: JsonObject, name: string): JsonObject => {
  const part = value[name];
  return isJsonObject(part) ? part : {};
};

function fieldsOf(stream: JsonObject, ofFile: () => JsonObject | undefined): JsonObject {
  const loaders = [stream.schema_loader ?? []].flat().filter(isJsonObject);
  const inline = loaders.map(({ schema }) => schema).filter(isJsonObject);
  const all = inline.length > 0 ? inline : [ofFile() ?? {}];
  return Object.assign({}, ...all.map((schema) => partOf(schema, "properties")));
}

function cursorOf(cursor: JsonObject, fill: (text: unknown) => string): Endpoint["cursor"] {
  if (cursor.cursor_field === undefined) return undefined;
  const [format = cursor.datetime_format] = [cursor.cursor_datetime_formats ?? []].flat();
  return { field: fill(cursor.cursor_field), format: String(format) };
}

const step = /\.(?!get\b)(\w+)|\[\s*['"](\w+)['"]\s*\]|\.get\(\s*['"](\w+)['"][^()]*\)/;
const answered = new RegExp(`response((?:${step.source})+)`, "g");
const namesIn = (chain: string) =>
  [...chain.matchAll(new RegExp(step, "g"))].map(([, ...names]) => names.find(Boolean) ?? "");

/** @param isOne its stream is read as one, so that many rows cost little */
function pagingOf(
  paginator: JsonObject,
  isOne: boolean,
): Pick<Endpoint, "token" | "next" | "isLinked" | "size"> {
  const strategy = partOf(paginator, "pagination_strategy");
  const { field_name } = partOf(paginator, "page_token_option");
  const texts = `${strategy.cursor_value ?? ""} ${strategy.stop_condition ?? ""}`;
  const wanted = Number(strategy.page_size);
  const isFull = wanted >= 1 && wanted <= (isOne ? maxRows : fewRows);
  return {
    token: typeof field_name === "string" ? field_name : undefined,
    next: [...texts.matchAll(answered)].map(([, chain = ""]) => namesIn(chain)),
    isLinked: field_name === undefined || /\||split/.test(String(strategy.cursor_value)),
    size: isFull ? wanted : fewRows,
  };
}
