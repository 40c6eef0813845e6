import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSchemaFiles, type SchemaFiles } from "./schema-files.ts";

let folder: string;
let files: SchemaFiles;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-schemas-"));
  files = openSchemaFiles(join(folder, "source_x/manifest.yaml"));
  const written: Record<string, string> = {
    "outside.json": "{}",
    "source_x/schemas/list.json": "[]",
    "source_x/schemas/broken.json": "{",
    "source_x/schemas/deep.json": `${'{"a":'.repeat(70)}1${"}".repeat(70)}`,
    "source_x/schemas/huge.json": `"${"x".repeat(2 * 1024 * 1024)}"`,
    "source_x/schemas/itself.json": '{"a":{"$ref":"#"}}',
    "source_x/schemas/away.json": '{"a":{"$ref":"../../outside.json"}}',
    "source_x/schemas/nothing.json": '{"a":{"$ref":"#/definitions/none"}}',
    "source_x/schemas/round.json": '{"a":{"$ref":"round.json"}}',
    "source_x/schemas/shared/round.json": '{"b":{"$ref":"round.json"}}',
    "source_x/schemas/grows.json": JSON.stringify({
      properties: { all: Array(1000).fill({ $ref: "#/definitions/many" }) },
      definitions: { many: { list: Array(1000).fill(1) } },
    }),
    "source_x/schemas/good.json": '{"properties":{"a":{"$ref":"part.json#/definitions/x"}}}',
    "source_x/schemas/shared/part.json":
      '{"definitions":{"x":{"items":{"$ref":"#/definitions/y"}},"y":{"type":"integer"}}}',
  };
  await mkdir(join(folder, "source_x/schemas/shared"), { recursive: true });
  await mkdir(join(folder, "source_x/schemas/folder.json"));
  for (const [path, text] of Object.entries(written)) await writeFile(join(folder, path), text);
  await symlink(join(folder, "outside.json"), join(folder, "source_x/schemas/link.json"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("a schema beside a manifest", () => {
  test("has its references put in, those to shared files too", () => {
    expect(files("schemas/good.json")).toEqual({
      properties: { a: { items: { type: "integer" } } },
    });
  });

  test.each([
    "schemas/none.json",
    "schemas/link.json",
    "schemas/folder.json",
  ])("that is no file is not there: %s", (path) => {
    expect(files(path)).toBeUndefined();
  });

  test.each<[string, RegExp]>([
    ["../outside.json", /leads out of the folder/],
    ["schemas/../../outside.json", /leads out of the folder/],
    ["/etc/x.json", /leads out of the folder/],
    ["schemas/away.json", /leads out of the folder/],
    ["schemas/.env.json", /leads out of the folder/],
    ["schemas", /leads out of the folder/],
    ["schemas/list.json", /must be an object/],
    ["schemas/broken.json", /is not JSON/],
    ["schemas/deep.json", /nested deeper/],
    ["schemas/huge.json", /is larger than/],
    ["schemas/itself.json", /refers to itself/],
    ["schemas/round.json", /refers to itself/],
    ["schemas/nothing.json", /refers to what is not there/],
    ["schemas/grows.json", /more than 200000 values/],
  ])("%s is refused: %s", (path, problem) => {
    expect(() => files(path)).toThrow(
      expect.objectContaining({
        code: "CONNECTOR_INVALID",
        details: expect.objectContaining({ problem: expect.stringMatching(problem) }),
      }),
    );
  });
});
