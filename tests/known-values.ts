/**
 * The values that answers have had so far: ids, handles, cursors, digests, under the names by which
 * requests ask for them.
 */
import type { ApiRequest, FromAnswers } from "./api-requests.ts";
import { type Described, operationsOf, type Schema } from "./openapi.ts";

/** How many values of one name are remembered. */
const maxValues = 40;

export function createKnownValues(document: Described) {
  const asked = new Set(operationsOf(document).flatMap(({ operation }) => [...namesOf(operation)]));
  const given = new Map<string, readonly unknown[]>();
  const known = new Map<string, unknown[]>();
  let turn = 0;

  const add = (name: string, value: unknown) => {
    const list = known.get(name) ?? [];
    known.set(name, list);
    if (list.length < maxValues) list.push(value);
    else list[turn++ % maxValues] = value;
  };
  const collect = (value: unknown, name = ""): void => {
    if (typeof value === "string" && name !== "" && asked.has(name)) add(name, value);
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value))
      collect(inner, Array.isArray(value) ? name : aliasOf(key, asked));
  };
  const filled = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if ("fromAnswers" in value) {
      const { fromAnswers, index } = value as FromAnswers;
      const lists = [given.get(fromAnswers) ?? [], known.get(fromAnswers) ?? []].filter(
        (list) => list.length > 0,
      );
      const list = lists[index % Math.max(1, lists.length)];
      return list?.[Math.floor(index / 2) % list.length];
    }
    if (Array.isArray(value)) return value.map(filled).filter((one) => one !== undefined);
    // Values that nobody has told yet are left out.
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, inner]) => [key, filled(inner)])
        .filter(([, inner]) => inner !== undefined),
    );
  };
  return {
    /** Values that no answer needs to tell; they stay. */
    give: (name: string, ...values: readonly unknown[]) => void given.set(name, values),
    /** Forgets what answers have told: it was another workspace's. */
    forget: () => known.clear(),
    collect: (text: string) => collect(JSON.parse(text)),
    /** The request as it is sent. */
    fill(request: ApiRequest, token: string | undefined) {
      const params = filled(request.params) as Record<string, unknown>;
      const path = request.path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encode(params[name] ?? `unknown_${name}`),
      );
      const query = Object.entries(filled(request.query) as object)
        .flatMap(([name, value]) => [value].flat().map((one) => `${encode(name)}=${encode(one)}`))
        .join("&");
      const { body } = request;
      const text = body && ("text" in body ? body.text : JSON.stringify(filled(body.value)));
      return {
        method: request.method as "GET",
        url: `/control/v1${path}${query === "" ? "" : `?${query}`}`,
        headers: {
          ...request.headers,
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(text === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(text === undefined ? {} : { payload: text }),
      };
    },
  };
}

const encode = (value: unknown) =>
  encodeURIComponent(
    (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed(),
  );

/** `next_cursor` is asked for as `cursor`. */
const aliasOf = (name: string, asked: ReadonlySet<string>) =>
  asked.has(name) ? name : (/^(?:next|default|current)_(\w+)$/.exec(name)?.[1] ?? name);

function* namesOf({
  parameters,
  requestBody,
}: ReturnType<typeof operationsOf>[number]["operation"]): Generator<string> {
  for (const { name } of parameters) yield name;
  yield* propertiesOf(requestBody?.content["application/json"].schema);
}

function* propertiesOf(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [name, value] of Object.entries(schema)) {
    if (name === "properties") yield* Object.keys(value as Schema);
    yield* propertiesOf(value);
  }
}
