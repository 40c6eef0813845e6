/** The OpenAPI document: whole, and true. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  answersOf,
  createSchemaCompiler,
  type Described,
  operationsOf,
  resolveReference,
  type Schema,
} from "../../tests/openapi.ts";
import { reasons } from "../contract/reasons.ts";
import { operations } from "../operations/index.ts";
import { createOpenApi } from "./openapi.ts";

const document = createOpenApi(operations) as unknown as Described;
const all = operationsOf(document);

/** Every value in the document with the names that lead to it. */
function* walk(
  value: unknown,
  names: readonly string[] = [],
): Generator<{ value: Schema; names: readonly string[] }> {
  if (typeof value !== "object" || value === null) return;
  yield { value: value as Schema, names };
  for (const [name, inner] of Object.entries(value)) yield* walk(inner, [...names, name]);
}

describe("the OpenAPI document", () => {
  test("has each operation of the registry once, and nothing else", () => {
    const ids = all.map(({ operation }) => operation.operationId);
    expect([...ids].sort()).toEqual(operations.map(({ id }) => id).sort());
    expect(new Set(ids).size).toBe(ids.length);
    for (const { method, path, operation } of all) {
      const own = operations.find(({ id }) => id === operation.operationId);
      expect([method, path]).toEqual([own?.method, own?.path]);
    }
  });

  test("refers to nothing that is not there", () => {
    const references = [...walk(document)].flatMap(({ value }) =>
      typeof value.$ref === "string" ? [value.$ref] : [],
    );
    expect(references.length).toBeGreaterThan(10);
    expect(
      references.filter((reference) => resolveReference(document, reference) === undefined),
    ).toEqual([]);
  });

  test("names each parameter of a path, once, and every answer has a description and a request id", () => {
    for (const { path, operation } of all) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const named = operation.parameters.filter((one) => one.in === "path").map(({ name }) => name);
      expect([operation.operationId, named.sort()]).toEqual([operation.operationId, inPath.sort()]);
      const keys = operation.parameters.map((one) => `${one.in} ${one.name.toLowerCase()}`);
      expect(new Set(keys).size).toBe(keys.length);
      for (const [status, answer] of answersOf(document, operation)) {
        expect(status).toMatch(/^[2-5]\d\d$/);
        expect(answer.description).toMatch(/\w/);
        expect(answer.headers).toHaveProperty("X-Request-Id");
      }
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining(["401", "403", "429", "500"]),
      );
    }
  });

  test("has schemas that are JSON Schema 2020-12, without an unknown word", () => {
    const compile = createSchemaCompiler(document);
    for (const { value, names } of walk(document)) {
      const isSchema = names.at(-1) === "schema" || (names.length === 3 && names[1] === "schemas");
      if (!isSchema) continue;
      expect(() => compile(value), names.join("/")).not.toThrow();
    }
  });

  test("tells the status of each reason as the table has it", () => {
    for (const { operation } of all) {
      for (const [status, answer] of answersOf(document, operation)) {
        const schema = answer.content["application/json"].schema;
        const { code, details } = schema.properties as {
          code?: { const: string };
          details?: Schema;
        };
        if (!code) continue;
        expect(code.const).toBe(status);
        const { reason } = (
          details as { properties: { reason: { enum: (keyof typeof reasons)[] } } }
        ).properties;
        for (const one of reason.enum)
          expect([one, String(reasons[one].status)]).toEqual([one, status]);
      }
    }
  });

  test("holds no secret-looking example and no default for one", () => {
    const named = [...walk(document)].filter(({ names }) =>
      /secret|token|password|key/i.test(names.at(-1) ?? ""),
    );
    for (const { value, names } of named) {
      expect([names.join("/"), value.default, value.examples]).toEqual([
        names.join("/"),
        undefined,
        undefined,
      ]);
    }
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

  test("the document, without a token, and not again to who has it", async () => {
    const answer = await api.server.inject("/control/v1/openapi.json");
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.json().paths).toEqual(JSON.parse(JSON.stringify(document.paths)));
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
