/** Recording an image: a source in Python, through the proxy and on to a live provider. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKit } from "svc-connectors/conformance";
import { beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../../fixtures/images/docker.ts";
import { imageToken, recordImage } from "../../fixtures/images/record.ts";
import { record } from "./record.ts";

const recorded = fileURLToPath(new URL("../../fixtures/images/recordings/", import.meta.url));

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "record-image-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const filesOf = async (folder: string) =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(folder)).map(
        async (name) => [name, await readFile(join(folder, name), "utf8")] as const,
      ),
    ),
  );

describe.skipIf(!hasDocker)("with Docker", () => {
  beforeAll(() => buildImages("reference", "probe"));

  test("every verb and stream becomes a file without the token, the same ones each time", async () => {
    await inFolder(async (folder) => {
      const summary = await recordImage("svc-test-reference", folder);
      expect(summary.files.map(({ name, recordCount }) => [name, recordCount])).toEqual([
        ["check.yaml", undefined],
        ["check-unauthenticated.yaml", undefined],
        ["notes.yaml", 7],
        ["notes.incremental.yaml", 7],
        ["notes.resumed.yaml", 1],
      ]);
      const files = await filesOf(folder);
      expect(JSON.stringify(files)).not.toContain(imageToken);
      expect(files).toEqual(await filesOf(recorded));
    });
  });

  test("the kit tries the image with what was recorded of it", async () => {
    await inFolder(async (folder) => {
      await recordImage("svc-test-reference", folder);
      await using kit = await openKit({
        connector: "image:svc-test-reference",
        cwd: folder,
        kind: "worker",
        profiles: [],
        fixtures: folder,
        rules: ["READ-04", "FIX-02"],
        seed: 1,
        isExhaustive: false,
        command: "svc conformance",
      });
      expect((await kit.run()).rules.map(({ id, result }) => [id, result])).toEqual([
        ["READ-04", "pass"],
        ["FIX-02", "pass"],
      ]);
    });
  });

  test("the words of a failing image are reported without the secrets in them", async () => {
    await inFolder(async (folder) => {
      const work = record({
        connector: { image: "svc-test-probe" },
        config: { api_token: imageToken, job: "confides" },
        folder,
        providerApiVersion: "v1",
      });
      await expect(work).rejects.toThrow("check failed: not taken: [redacted]");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test.each([
    ["a name that nobody knows", [], /does not resolve/],
    ["an address of a private network", ["10.0.0.8"], /not allowed|refused|may not|private/i],
  ])("%s is not reached, and nothing is written", async (_, addresses, message) => {
    await inFolder(async (folder) => {
      const work = record({
        connector: { image: "svc-test-reference" },
        config: { api_token: imageToken },
        seams: { resolve: async () => addresses.map((address) => ({ address, family: 4 })) },
        folder,
        providerApiVersion: "v1",
      });
      await expect(work).rejects.toThrow(message);
      await expect(work).rejects.not.toThrow(imageToken);
      expect(await readdir(folder)).toEqual([]);
    });
  });
});
