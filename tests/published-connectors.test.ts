import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderPublished, tryPublished } from "../docs/published-connectors.ts";
import { rotatingManifest } from "./rotating-manifest.ts";

test("the table of published manifests says what is read of each, and why the rest is not", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-published-"));
  try {
    const good = rotatingManifest({
      login: "https://api.example.com/token",
      api: "https://api.example.com",
    });
    await mkdir(join(folder, "source-good"));
    await writeFile(join(folder, "source-good/manifest.yaml"), good);
    const python = good.replace("type: SimpleRetriever", "type: CustomRetriever");
    await writeFile(join(folder, "source-python.yaml"), python);
    await writeFile(join(folder, "source-broken.yaml"), "streams: [");
    const page = renderPublished(await tryPublished(folder), "that a test has made");
    const rows = page.split("\n").filter((line) => line.startsWith("| source-"));
    expect(rows).toEqual([
      expect.stringMatching(/^\| source-broken \| {2}\| 0 \| 0 \| .*not valid YAML/),
      "| source-good | 6.36.2 | 1 | 0 | — |",
      expect.stringMatching(/^\| source-python \| 6.36.2 \| 1 \| 1 \| .*CustomRetriever/),
    ]);
    expect(page).toContain("need nothing which is not supported: 1 of 3.");
    expect(page).toContain("Streams that they list: 2, of which 1 can be read.");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
