/** The OpenAPI document: whole, and true. */

import { gunzipSync } from "node:zlib";
import { findShapes } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  answersOf,
  createSchemaCompiler,
  dereference,
  operationsOf,
  resolveReference,
  type Schema,
} from "../../tests/openapi.ts";
import { areas } from "../contract/areas.ts";
import { examples } from "../contract/examples.ts";
import { type Reason, reasons } from "../contract/reasons.ts";
import { operations } from "../operations/index.ts";
import { createOpenApi } from "./document.ts";

const document = createOpenApi(operations);
/** As clients see it: everything that is referred to in its place. */
const whole = dereference(document);
const all = operationsOf(whole);

/** Every object in the document with the names that lead to it. */
function* walk(
  value: unknown,
  names: readonly string[] = [],
): Generator<{ value: Schema; names: readonly string[] }> {
  if (typeof value !== "object" || value === null) return;
  yield { value: value as Schema, names };
  for (const [name, inner] of Object.entries(value)) yield* walk(inner, [...names, name]);
}

/** Whether clients make a type of it: an object with properties, or a set of words. */
const isType = ({ type, properties, enum: words }: Schema) =>
  (type === "object" && Object.keys((properties ?? {}) as object).length > 0) ||
  (Array.isArray(words) && words.length > 1);

/** Without the words that are said of it at one place. */
const shapeOf = ({ description: _, default: _default, ...shape }: Schema) => JSON.stringify(shape);

describe("the OpenAPI document", () => {
  test("has each operation of the registry once, and nothing else", () => {
    const ids = all.map(({ operation }) => operation["x-svc-operation"]);
    expect([...ids].sort()).toEqual(operations.map(({ id }) => id).sort());
    expect(new Set(ids).size).toBe(ids.length);
    for (const { method, path, operation } of all) {
      const own = operations.find(({ id }) => id === operation["x-svc-operation"]);
      expect([method, path]).toEqual([own?.method, own?.path]);
    }
  });

  test("gives operations names that are methods: a verb and what it acts on, each once", () => {
    const names = all.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    const verbs =
      /^(list|get|create|update|delete|check|test|start|finish|prepare|preview|run|sync|pause|resume|cancel|approve|reject|revoke|remove|resend|accept|rotate|redeliver|reset|clear|refresh|stream|export)[A-Z][A-Za-z]*$/;
    expect(names.filter((name) => !verbs.test(name))).toEqual([]);
  });

  test("refers to nothing that is not there, and has nothing that nobody refers to", () => {
    const references = new Set(
      [...walk(document)].flatMap(({ value }) =>
        typeof value.$ref === "string" ? [value.$ref] : [],
      ),
    );
    expect(references.size).toBeGreaterThan(100);
    expect(
      [...references].filter((reference) => resolveReference(document, reference) === undefined),
    ).toEqual([]);
    const { securitySchemes: _, ...kinds } = document.components;
    const named = Object.entries(kinds).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect(named.filter((name) => !references.has(name))).toEqual([]);
  });

  test("has each type once, under a name", () => {
    const schemas = new Map(
      Object.entries(document.components.schemas).map(([name, schema]) => [schema, name]),
    );
    const places = Map.groupBy(
      [...walk(document)].filter(({ value }) => isType(value)),
      ({ value }) => shapeOf(value),
    );
    const doubled = [...places.values()]
      .filter((some) => some.length > 1)
      .map((some) => some.map(({ value, names }) => schemas.get(value) ?? names.join(".")));
    expect(doubled, "give it a title, or a name in enums.ts").toEqual([]);
  });

  test("names what lists are made of, and what is got", () => {
    const anonymous = operations.flatMap(({ id, effect, data }) => {
      const { items } = (data.properties.items ?? {}) as { readonly items?: Schema };
      const { title } = (items ?? data) as { readonly title?: string };
      return effect === "read" && title === undefined ? [id] : [];
    });
    // Nothing of these is a resource.
    expect(anonymous, "give the schema a title").toEqual(["me.get", "connector.spec"]);
  });

  test("describes every area, and has an example for every body", () => {
    const { tags } = document as unknown as { tags: readonly { name: string }[] };
    expect(tags.map(({ name }) => name)).toEqual(
      Object.keys(areas).filter((name) => operations.some(({ area }) => area === name)),
    );
    const compile = createSchemaCompiler();
    for (const { operation } of all) {
      const content = operation.requestBody?.content["application/json"];
      if (!content) continue;
      expect(content.example, operation["x-svc-operation"]).toBeDefined();
      const validate = compile(content.schema);
      expect([operation.operationId, validate(content.example), validate.errors]).toEqual([
        operation.operationId,
        true,
        null,
      ]);
    }
    const known = operations.map(({ id }) => id);
    expect(Object.keys(examples).filter((id) => !known.includes(id))).toEqual([]);
  });

  test("names each parameter of a path, once, and every answer has a description and a request id", () => {
    for (const { path, operation } of all) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = operation.parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect([operation.operationId, named.sort()]).toEqual([operation.operationId, inPath.sort()]);
      const keys = operation.parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const [status, answer] of answersOf(operation)) {
        expect(status).toMatch(/^[2-5]\d\d$|^default$/);
        expect(answer.description).toMatch(/\w/);
        expect(answer.headers).toHaveProperty("X-Request-Id");
      }
      expect(operation.responses).toHaveProperty("default");
    }
  });

  test("has schemas that are JSON Schema 2020-12, without an unknown word", () => {
    const compile = createSchemaCompiler();
    for (const { value, names } of walk(whole)) {
      const isSchema = names.at(-1) === "schema" || (names.length === 3 && names[1] === "schemas");
      if (!isSchema) continue;
      expect(() => compile(value), names.join("/")).not.toThrow();
    }
  });

  test("has an answer for the status of each reason, and all reasons of the table in its guide", () => {
    for (const { operation } of all) {
      const statuses = operation["x-svc-reasons"].map((one) => reasons[one as Reason].status);
      for (const status of statuses)
        expect([operation.operationId, Object.keys(operation.responses)]).toEqual([
          operation.operationId,
          expect.arrayContaining([
            status >= 500 && status !== 502 && status !== 504 ? "default" : String(status),
          ]),
        ]);
    }
    const { description } = (document as unknown as { info: { description: string } }).info;
    for (const [reason, { status, message }] of Object.entries(reasons))
      expect(description).toContain(`| ${status} | \`${reason}\` | ${message} |`);
  });

  test("holds no secret-looking example and no default for one", () => {
    const named = [...walk(whole)].filter(({ names }) =>
      /secret|token|password|key/i.test(names.at(-1) ?? ""),
    );
    for (const { value, names } of named) {
      expect([names.join("/"), value.default, value.examples]).toEqual([
        names.join("/"),
        undefined,
        undefined,
      ]);
    }
    expect(findShapes(JSON.stringify(document))).toEqual([]);
  });

  test("stays small: a part that stands twice would be seen", () => {
    const perOperation = JSON.stringify(document).length / all.length;
    expect(perOperation).toBeLessThan(3_500);
  });
});

describe("what is served of it", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
  });

  test("comes compressed to who takes it, with a tag of its own, at an eighth of its size", async () => {
    const ask = (headers: Record<string, string>) =>
      api.server.inject({ url: "/control/v1/openapi.json", headers });
    const plain = await ask({ "accept-encoding": "br, gzip;q=0" });
    const zipped = await ask({ "accept-encoding": "br, GZIP;q=0.5" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(zipped.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
    expect(zipped.rawPayload.length * 8).toBeLessThan(plain.rawPayload.length);
    expect(zipped.headers.etag).not.toBe(plain.headers.etag);
    const again = { "accept-encoding": "gzip", "if-none-match": String(zipped.headers.etag) };
    expect((await ask(again)).statusCode).toBe(304);
  });

  test("the document, without a token, and not again to who has it", async () => {
    const answer = await api.server.inject("/control/v1/openapi.json");
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.json()).toEqual(JSON.parse(JSON.stringify(document)));
    const again = await api.server.inject({
      url: "/control/v1/openapi.json",
      headers: { "if-none-match": String(answer.headers.etag) },
    });
    expect([again.statusCode, again.payload]).toEqual([304, ""]);
  });

  test("a page that loads nothing from elsewhere and runs no script of its own text", async () => {
    const page = await api.server.inject("/control/v1/docs");
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.payload).not.toMatch(/<script>|<style>| style=| on\w+=|https?:/);
    const loaded = [...page.payload.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url ?? "",
    );
    expect(loaded.length).toBeGreaterThan(4);
    for (const url of loaded) {
      const part = await api.server.inject(new URL(url, "http://x/control/v1/docs").pathname);
      expect([url, part.statusCode]).toEqual([url, 200]);
      expect(part.headers["x-content-type-options"]).toBe("nosniff");
    }
  });

  test.each([
    "docs/package.json",
    "docs/index.html",
    "docs/..%2f..%2fpackage.json",
    "docs/%2e%2e/package.json",
    "docs/swagger-ui-bundle.js.map",
    "docs/",
  ])("of the folder behind the page, %s is not served", async (path) => {
    const answer = await api.server.inject(`/control/v1/${path}`);
    expect(answer.json()).toMatchObject({ code: "404", details: { reason: "not_found" } });
  });

  test("another method on them is 405", async () => {
    const answer = await api.server.inject({ method: "POST", url: "/control/v1/openapi.json" });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
  });
});
