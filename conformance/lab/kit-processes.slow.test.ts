import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KitOptions } from "../contract/kit.ts";
import type { ConformanceReport } from "../contract/report.ts";
import { createKitProcess } from "./kit-processes.ts";
import { openSourceKit } from "./source-kit.ts";

const reference = (path: string) =>
  fileURLToPath(new URL(`../../fixtures/reference/${path}`, import.meta.url));

const options: KitOptions = {
  connector: reference("connector/index.ts"),
  cwd: reference(""),
  kind: "module",
  profiles: ["core", "resumable"],
  rules: [],
  seed: 1,
  isExhaustive: false,
  effort: 0.1,
  command: "svc conformance it",
};

/** A program that ends its process when it is asked to read. */
let folder: string;
let leaving: KitOptions;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-leaving-"));
  const connector = join(folder, "index.ts");
  await writeFile(
    connector,
    `import program from ${JSON.stringify(reference("program/index.ts"))};
export default { ...program, run: (command, world) => command.verb === "read" ? process.exit(7) : program.run(command, world) };
`,
  );
  leaving = { ...options, connector: `program:${connector}`, fixtures: reference("") };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(processes: number): Promise<ConformanceReport> {
  await using kit = await openSourceKit({ ...options, processes });
  return await kit.run();
}

test("several processes find what one does, in the order of the rules", async () => {
  const [one, two] = [await run(1), await run(2)];
  const found = ({ rules }: ConformanceReport) =>
    rules.map(({ id, result, subjects, problems, reason }) => ({
      ...{ id, result, subjects, problems, reason },
    }));
  expect(found(two)).toEqual(found(one));
  expect(two.verdict).toBe("passed");
  // The other one has asked for the spec and the streams, too.
  expect(two.runCount).toBeGreaterThan(one.runCount);
});

test("a rule whose process ends says so, and the next one has a new process", async () => {
  await using other = createKitProcess(leaving);
  await expect(other.tryRule("READ-04")).rejects.toThrow(
    "the process that tried it ended (exit code 7)",
  );
  expect(await other.tryRule("SPEC-04")).toMatchObject({ id: "SPEC-04", result: "pass" });
});

test("one that is interrupted ends with what it is trying", async () => {
  const interruption = new AbortController();
  await using other = createKitProcess({ ...options, signal: interruption.signal });
  const trying = other.tryRule("READ-02");
  interruption.abort();
  await expect(trying).rejects.toThrow("the process that tried it ended (SIGKILL)");
});

test("what cannot be opened says why", async () => {
  await using other = createKitProcess({ ...options, connector: join(folder, "nothing.ts") });
  await expect(other.tryRule("READ-02")).rejects.toThrow(/^there is no connector/);
});
