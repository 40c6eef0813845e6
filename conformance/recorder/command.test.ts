import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHost } from "svc-connectors/host";
import { expect, test } from "vitest";
import { startServer } from "../../simulators/simulator/server.ts";
import { runCommand } from "../../tests/command.ts";
import { buildRecord } from "./command.ts";

const connector = fileURLToPath(
  new URL("../../fixtures/reference/connector/index.ts", import.meta.url),
);
const token = "nts_live_8Kq2Xw7Rt5Yu9Io3Pa6Sd";

/**
 * `svc record …` in a folder of its own, with a provider that knows the token, holds one folder and
 * lists notes without end.
 */
async function run(...args: readonly string[]) {
  await using server = await startServer({
    hostname: "api.notes.example.com",
    answer({ path, query, headers }) {
      const isKnown = headers.authorization === `Bearer ${token}`;
      const bodies: Record<string, unknown> = {
        "/v1/notes": { data: [], next: `${Number(query.get("cursor") ?? 0) + 1}` },
      };
      const folders = { folders: [{ id: "f", name: "Jane" }] };
      const body = isKnown ? (bodies[path] ?? folders) : { error: "no" };
      return { status: isKnown ? 200 : 401, headers: {}, body: Buffer.from(JSON.stringify(body)) };
    },
  });
  const cwd = await mkdtemp(join(tmpdir(), "record-command-"));
  try {
    await writeFile(join(cwd, "config.json"), JSON.stringify({ api_token: token }));
    const ran = await runCommand(["record", ...args], {
      cwd,
      commands: { record: buildRecord },
      createHost: (options) =>
        createHost({
          ...options,
          sandbox: "inline",
          seams: { ...server.seams, ...options?.seams },
        }),
    });
    const files = await readdir(join(cwd, "fixtures")).catch(() => []);
    return { ...ran, files: files.sort() };
  } finally {
    await rm(cwd, { recursive: true });
  }
}

test("records the named streams and prints the files that it wrote", async () => {
  const { code, stdout, stderr, files } = await run(
    connector,
    "--config",
    "config.json",
    "--streams",
    "folders",
    "--provider-version",
    "v1",
  );
  expect([code, stderr]).toEqual([0, ""]);
  expect(files).toEqual([
    "answers.yaml",
    "baseline.yaml",
    "check-unauthenticated.yaml",
    "check.yaml",
    "folders.yaml",
  ]);
  expect(stdout).toContain("folders.yaml: 1 request, 1 row\n");
  expect(stdout).toMatch(/Look through fixtures before you publish it: .* --people FIELDS/);
});

test("what is beyond the limit is left out and said at the end; fields of --people lose their words", async () => {
  const few = ["--streams", "folders,notes", "--max-requests", "3", "--people", "name"];
  const { code, stdout, files } = await run(connector, "--config", "config.json", ...few);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Replaced: .*personal-name/)]);
  expect(stdout).toContain("\nnotes asked for more than 3 requests: ");
  expect(files).toContain("folders.yaml");
  expect(files).not.toContain("notes.yaml");
});

test("a stream that cannot be read exits 1 and writes nothing", async () => {
  const { code, stderr, files } = await run(
    connector,
    "--config",
    "config.json",
    "--streams",
    "tags",
  );
  expect([code, files]).toEqual([1, []]);
  expect(stderr).toMatch(/^svc: tags failed \(RESPONSE_INVALID\): .*--streams\.\n$/);
});

test.each([
  [[], /name a connector/],
  [["nothing-like-it", "--config", "config.json"], /there is no connector "nothing-like-it"/],
  [[connector], /record needs --config FILE/],
  [
    [connector, "more", "--config", "config.json"],
    /unexpected "more"; streams are named by --streams/,
  ],
  [[connector, "--config", "config.json", "--seed", "x"], /--seed must be a whole number/],
  [[connector, "--config", "config.json", "--max-mb", "64"], /--max-mb must be .* from 1 to 11/],
  [
    [connector, "--config", "config.json", "--streams", "foldres"],
    /there is no stream "foldres" \(did you mean "folders"\?\)/,
  ],
])("%j is reported and exits 2", async (args, message) => {
  const { code, stderr, files } = await run(...args);
  expect([code, files]).toEqual([2, []]);
  expect(stderr).toMatch(message);
});
