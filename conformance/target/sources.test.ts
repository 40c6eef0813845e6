import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSources } from "./sources.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-sources-"));
  await mkdir(join(root, "dist/packages"), { recursive: true });
  await mkdir(join(root, "dist/connectors/sql"), { recursive: true });
  await writeFile(join(root, "dist/packages/driver.js"), "export const connect = 1;");
  await writeFile(join(root, "dist/connectors/quote.js"), "export const quote = 1;");
  await writeFile(
    join(root, "dist/connectors/sql/index.js"),
    'import { connect } from "../../packages/driver.js";\nexport { quote } from "../quote.js";\n',
  );
});
afterAll(() => rm(root, { recursive: true, force: true }));

test("a built connector is judged by its own code, not by that of the packages which the build puts beside it", () => {
  const url = (path: string) => pathToFileURL(join(root, path)).href;
  const found = readSources(url("dist/connectors/sql/index.js"), url("dist/packages/"));
  expect(found.map(({ path }) => path)).toEqual(["index.js", "../quote.js"]);
});
