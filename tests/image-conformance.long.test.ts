/**
 * Images of the Airbyte Protocol under the kit, from the command line's own door: one in Python
 * with two defects, one of ours, and well-made ones in Python (Airbyte's CDK), Node and Go.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { openKit } from "svc-connectors/conformance";
import { beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../fixtures/images/docker.ts";

const folder = (name: string) =>
  fileURLToPath(new URL(`../fixtures/images/${name}`, import.meta.url));

const hasGo = spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;

async function conformance(image: string, cwd: string, rules: readonly string[]) {
  await using kit = await openKit({
    ...{
      connector: `image:svc-test-${image}`,
      cwd,
      kind: "worker",
      profiles: [],
      rules,
      seed: 1,
      isExhaustive: false,
      effort: 0.04,
    },
    command: "svc conformance",
  });
  return await kit.run();
}

/**
 * Rules of few runs that each well-made image meets: those that blamed it while it had the fault,
 * or while the kit was wrong. One on the CDK takes seconds to start.
 */
const met: Readonly<Record<string, readonly string[]>> = {
  cdk: [
    ...["CHECK-02", "READ-01", "READ-04", "SCHEMA-02", "STATE-02", "STATE-08", "STATE-09"],
    ...["DET-02", "LEAK-10"],
  ],
  node: ["CHECK-02", "CHECK-04", "READ-01", "READ-04", "READ-06", "SPEC-04", "SCHEMA-06"],
  go: ["CHECK-02", "CHECK-04", "READ-01", "READ-04", "READ-06", "SPEC-04", "AUTH-06", "RETRY-05"],
};
const ofPages = ["PAGE-01", "PAGE-07", "CANCEL-03"];

describe.skipIf(!hasDocker)("with Docker", () => {
  const wellMade = ["cdk", "node", ...(hasGo ? ["go"] : [])];
  beforeAll(() => buildImages("reference", "leaky", "mailer", ...wellMade));

  test.each(wellMade)("a well-made image (%s) is blamed for nothing", async (name) => {
    const rules = [...(met[name] ?? []), ...(name === "cdk" ? [] : ofPages)];
    const report = await conformance(name, folder(name), rules);
    expect(
      report.rules.map(({ id, result, problems }) => [
        id,
        result,
        problems.map(({ sentence }) => sentence),
      ]),
    ).toEqual(report.rules.map(({ id }) => [id, "pass", []]));
    expect(report.rules).toHaveLength(rules.length);
  });

  test("SPEC-05 does not apply to a source that declares no version and no incremental stream", async () => {
    const { rules } = await conformance("node", folder("node"), ["READ-04", "SPEC-05"]);
    expect(rules.map(({ id, result }) => [id, result])).toContainEqual([
      "SPEC-05",
      "not-applicable",
    ]);
  });

  test("a source in Python that logs its token in base64, loses the last page and goes on when it is told to end is found out on each", async () => {
    const report = await conformance("leaky", folder(""), ["LEAK-02", "READ-04", "CANCEL-03"]);
    const sentences = report.rules
      .flatMap(({ problems }) => problems.map(({ sentence }) => sentence))
      .join("\n");
    expect(report.verdict).toBe("failed");
    expect(sentences).toMatch(/config api_token" stands as base64/);
    expect(sentences).toMatch(/6 records of notes came, 7 were recorded/);
    expect(sentences).toMatch(/more requests were sent after the cancel/);
  });

  test("the same source without them meets those rules", async () => {
    const report = await conformance("reference", folder(""), ["LEAK-02", "READ-04", "CANCEL-03"]);
    expect(report.rules.map(({ id, result }) => [id, result])).toEqual([
      ["READ-04", "pass"],
      ["LEAK-02", "pass"],
      ["CANCEL-03", "pass"],
    ]);
  });

  test("redirects, and names that lie inside, are tried on a container: one that follows them is found out", async () => {
    const [refusing] = (await conformance("reference", folder(""), ["NET-03"])).rules;
    expect([refusing?.result, refusing?.problems]).toEqual(["pass", []]);
    expect(refusing?.subjects.join("\n")).toMatch(/redirected to \S+, which is 127\.0\.0\.1/);
    const [following] = (await conformance("leaky", folder(""), ["NET-03"])).rules;
    expect(following?.result).toBe("fail");
    expect(following?.problems.map(({ sentence }) => sentence).join("\n")).toMatch(
      /redirected to https:\/\/127\.0\.0\.1: the redirect was followed/,
    );
  });

  test("the mailer as an image reads what was recorded and leaks nothing, in its logs and files neither", async () => {
    const report = await conformance("mailer", folder("mailer"), [
      "SPEC-02",
      "CHECK-01",
      "READ-04",
      "READ-05",
    ]);
    expect(
      report.rules.map(({ id, result, problems }) => [
        id,
        result,
        problems.map(({ sentence }) => sentence),
      ]),
    ).toEqual([
      ["SPEC-02", "pass", []],
      ["CHECK-01", "pass", []],
      ["READ-04", "pass", []],
      ["READ-05", "pass", []],
    ]);
  });
});
