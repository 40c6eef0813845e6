import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { ConnectorError } from "../../contract/errors.ts";
import { customTypes, loadCode, noCode, refusedCustomTypes } from "./code.ts";
import { itemsOf, toPlain } from "./plain.ts";

const manifest = fileURLToPath(
  new URL("../../../fixtures/manifests/club/manifest.yaml", import.meta.url),
);
const text = await readFile(manifest, "utf8");
const loader = {
  import: async (url: string): Promise<Record<string, unknown>> => await import(url),
  toError: (error: unknown) =>
    new ConnectorError("CONNECTOR_FAILED", { name: (error as Error).constructor.name }),
};
const open = (exported: object) =>
  loadCode(manifest, text, { ...loader, import: async () => ({ ...exported }) });
const greeting = {
  type: "CustomTransformation",
  class_name: "source_club.components.Greeting",
};

test("a component is found by the last part of its class name, also without its type", async () => {
  const code = await loadCode(manifest, text, loader);
  expect(code.find(greeting, "here", ["CustomTransformation"])).toMatchObject({
    type: "CustomTransformation",
  });
  const { class_name } = greeting;
  const untyped = code.find({ class_name }, "here", ["AddFields", "CustomTransformation"]);
  expect(untyped.type).toBe("CustomTransformation");
});

test("a manifest that names no class runs no code", async () => {
  const none = await loadCode(manifest, "version: 1.0.0", {
    ...loader,
    import: () => Promise.reject(new Error("it was imported")),
  });
  expect(none).toBe(noCode);
});

test("the manifest's own words are no way to what a module inherits", async () => {
  const code = await open({});
  for (const name of ["constructor", "__proto__", "toString"])
    expect(() =>
      code.find({ ...greeting, class_name: `a.${name}` }, "here", ["CustomTransformation"]),
    ).toThrow(`is ${name}, which components.ts does not export`);
});

test("a class instead of an object, and an object without the function, are told with the line", async () => {
  for (const Greeting of [class {}, {}, null, "text", () => {}]) {
    const code = await open({ Greeting });
    expect(() => code.find(greeting, "here", ["CustomTransformation"])).toThrow(
      /here \(line 33\) is Greeting, .* must be an object with the function transform/,
    );
  }
});

test("a kind that runs nowhere has its reason; one at a wrong place too", () => {
  for (const [type, reason] of Object.entries(refusedCustomTypes))
    expect(() => noCode.find({ type, class_name: "a.B" }, "here", ["HttpRequester"])).toThrow(
      `is B, a ${type}, which cannot run here: ${reason}`,
    );
  expect(() => noCode.find(greeting, "here", ["HttpRequester"])).toThrow("cannot stand at");
  expect(Object.keys(customTypes).filter((type) => type in refusedCustomTypes)).toEqual([]);
});

test("what throws, now or later, is told with its place", async () => {
  const fail = () => {
    throw new TypeError("boom");
  };
  const code = await open({ Greeting: { transform: fail } });
  const part = code.find(greeting, "here", ["CustomTransformation"]);
  const withPlace = expect.objectContaining({
    details: { name: "TypeError", path: "here (line 33)" },
  });
  expect(() => part.call("transform")).toThrow(withPlace);
  await expect(part.run(async () => fail())).rejects.toEqual(withPlace);
  expect(() => [...itemsOf(part, { [Symbol.iterator]: fail })]).toThrow(withPlace);
  expect(() => [...itemsOf(part, 3)]).toThrow("gives what is no list");
  const limited = new ConnectorError("RATE_LIMITED");
  expect(() =>
    part.run(() => {
      throw limited;
    }),
  ).toThrow(expect.objectContaining({ code: "CONNECTOR_FAILED" }));
});

test("what it gives is plain data, and of its own", async () => {
  const part = (await open({ Greeting: { transform() {} } })).find(greeting, "here", [
    "CustomTransformation",
  ]);
  const given = { a: [1, { b: 2n }], c: undefined };
  const made = toPlain(part, given);
  expect(made).toEqual({ a: [1, { b: 2n }], c: null });
  expect(made).not.toBe(given);
  for (const wrong of [Number.NaN, () => {}, Symbol("s"), new Date(0), { a: [new Map()] }])
    expect(() => toPlain(part, wrong)).toThrow(/line 33/);
});
