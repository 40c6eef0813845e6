import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderPublished, tryPublished } from "../docs/published-connectors.ts";
import { rotatingManifest } from "./rotating-manifest.ts";

const unexplained = { streams: {}, manifests: {}, rules: {} };

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
      expect.stringMatching(
        /^\| source-broken \| {2}\| 0 \| 0 \| .*not valid YAML.* \| — \| — \|$/,
      ),
      "| source-good | 6.36.2 | 1 | 0 | — | — | — |",
      expect.stringMatching(/^\| source-python \| 6.36.2 \| 1 \| 1 \| .*CustomRetriever/),
    ]);
    expect(page).toContain("| tried | 3 manifests, 2 streams |");
    expect(page).toContain("| loaded | 1 of 3;");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("a difference has its explanation, or is told as one that has none", () => {
  const tried = {
    ...{ name: "source-shop", version: "1.0.0", streams: 2, missing: [], missingCount: 0 },
    isWithPython: false,
    compared: [
      { stream: "orders", rows: 3, failure: "", differences: [] },
      {
        ...{ stream: "items", rows: 0, failure: "" },
        differences: [{ part: "state", text: "there {}, here | {}" }],
      },
    ],
    kit: {
      ...{ tried: 70, left: 3, budgetSeconds: 120 },
      failed: [{ rule: "NET-04", sentence: "orders, request 1 went elsewhere" }],
    },
  };
  const page = renderPublished([tried], "that a test has made", unexplained);
  expect(page).toContain("| 1 (50.0 %) |");
  expect(page).toContain(
    "| source-shop | items | state | there {}, here \\| {} | not explained yet |",
  );
  expect(page).toContain("| source-shop | 70 | 3 | NET-04: orders, request 1 went elsewhere |");
  expect(page).toContain("| NET-04 | not explained yet |");
  const explained = renderPublished([tried], "that a test has made", {
    streams: { "source-shop items": "ours" },
    manifests: { "source-shop": "has a shop", "source-other": "has none" },
    rules: { "NET-04": "write ids encoded", "NET-05": "stay" },
  });
  expect(explained).toContain("here \\| {} | ours |");
  expect(explained).toContain("| NET-04 | write ids encoded |");
  expect(explained).toContain("- source-shop: has a shop");
  expect(explained).not.toMatch(/has none|NET-05/);
});

test("a stream that Airbyte's interpreter refuses and that is read here counts by itself", () => {
  const compared = (failure: string, part: string) => ({
    ...{ stream: "orders", rows: 0, failure, differences: [{ part, text: "there true" }] },
  });
  const tried = {
    ...{ name: "source-shop", version: "1.0.0", streams: 3, missing: [], missingCount: 0 },
    isWithPython: false,
    compared: [compared("no state", "failed"), compared("", "failed"), compared("no", "state")],
  };
  const page = renderPublished([tried], "that a test has made", unexplained);
  expect(page).toContain("| of the others, refused by Airbyte's interpreter and read here | 1 |");
});
