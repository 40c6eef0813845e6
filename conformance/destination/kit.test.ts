import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openKit } from "../kit.ts";

const broken = fileURLToPath(
  new URL("../../fixtures/broken-destinations/dest-01-check-always-succeeds.ts", import.meta.url),
);

const open = (connector: string, rules: readonly string[], file?: string) =>
  openKit({
    ...{
      connector,
      rules,
      cwd: process.cwd(),
      kind: "worker",
      profiles: ["core"],
      seed: 1,
      isExhaustive: false,
    },
    command: `svc conformance ${connector}`,
    file,
  });

test("a destination is found by its name and judged by rules for destinations", async () => {
  await using kit = await open("duckdb", ["DEST-10"]);
  const report = await kit.run();
  expect([
    report.verdict,
    report.connector.id,
    report.rules.map(({ id, result }) => [id, result]),
  ]).toEqual(["passed", "conn_duckdb", [["DEST-10", "pass"]]]);
  expect(report.runCount).toBeGreaterThan(5);
});

test("one of the author's own is named by its path; a rule that it breaks fails with a command that tries it again", async () => {
  await using kit = await open(`destination:${broken}`, ["dest-01"]);
  const { verdict, rules } = await kit.run();
  expect([verdict, rules[0]?.result, rules[0]?.repro]).toEqual([
    "failed",
    "fail",
    `svc conformance destination:${broken} --rules DEST-01 --seed 1`,
  ]);
});

test("a waiver in conformance.yaml counts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-waiver-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "conformance.yaml");
  const waiver = "{ rule: DEST-01, reason: known, owner: data team, expires: 2999-01-01 }";
  await writeFile(file, `waivers: [${waiver}]\n`);
  await using kit = await open(`destination:${broken}`, ["DEST-01", "DEST-11"], file);
  const { verdict, rules } = await kit.run();
  expect([verdict, rules.map(({ result }) => result)]).toEqual(["passed", ["waived", "pass"]]);
});

test("a destination without query is not judged, and says why", async () => {
  const url = new URL("../../fixtures/broken-destinations/without-query.ts", import.meta.url);
  await using kit = await open(`destination:${fileURLToPath(url)}`, ["DEST-02"]);
  const { verdict, rules, remarks } = await kit.run();
  expect([verdict, rules[0]?.result, rules[0]?.reason]).toEqual([
    "failed",
    "not-applicable",
    "this destination has no query, so that what it wrote cannot be read back",
  ]);
  expect(remarks).toEqual([
    "Nothing was proved: every rule was waived, left out or does not apply. Mostly: this destination has no query, so that what it wrote cannot be read back.",
  ]);
});

test.each([
  ["a path that leads nowhere", "destination:./nowhere", [], /leads to no module/],
  [
    "a module that is no destination",
    `destination:${fileURLToPath(import.meta.url)}`,
    [],
    /is no destination|cannot be loaded/,
  ],
  ["a rule of sources", "duckdb", ["READ-01"], /there is no rule READ-01 for destinations/],
])("%s is reported", async (_, connector, rules, message) => {
  await expect(open(connector, rules)).rejects.toMatchObject({
    name: "UnusableError",
    message: expect.stringMatching(message),
  });
});
