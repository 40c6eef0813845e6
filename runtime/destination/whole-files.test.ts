import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { syncsOf } from "../../fixtures/syncs.ts";
import { renameWhole } from "./whole-files.ts";

test.skipIf(process.platform !== "linux")(
  "the content is on the disk before the file has its name, and the name before it counts",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "svc-whole-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [draft, path] = [join(folder, "draft"), join(folder, "whole")];
    await writeFile(draft, "content");
    expect(await syncsOf(path, () => renameWhole(draft, path))).toEqual([
      [draft, false],
      [folder, true],
    ]);
    expect(await readFile(path, "utf8")).toBe("content");
  },
);
