/**
 * Images of the Airbyte Protocol under the kit, from the command line's own door: one in Python
 * with two defects, one of ours.
 */
import { fileURLToPath } from "node:url";
import { openKit } from "svc-connectors/conformance";
import { beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../fixtures/images/docker.ts";

const folder = (name: string) =>
  fileURLToPath(new URL(`../fixtures/images/${name}`, import.meta.url));

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

describe.skipIf(!hasDocker)("with Docker", () => {
  beforeAll(() => buildImages("reference", "leaky", "mailer"), 600_000);

  test("a source in Python that logs its token in base64 and loses the last page is found out on both", async () => {
    const report = await conformance("leaky", folder(""), ["LEAK-02", "READ-04"]);
    const sentences = report.rules
      .flatMap(({ problems }) => problems.map(({ sentence }) => sentence))
      .join("\n");
    expect(report.verdict).toBe("failed");
    expect(sentences).toMatch(/config api_token" stands as base64/);
    expect(sentences).toMatch(/6 records of notes came, 7 were recorded/);
  }, 600_000);

  test("the same source without them meets those rules", async () => {
    const report = await conformance("reference", folder(""), ["LEAK-02", "READ-04"]);
    expect(report.rules.map(({ id, result }) => [id, result])).toEqual([
      ["READ-04", "pass"],
      ["LEAK-02", "pass"],
    ]);
  }, 600_000);

  test("redirects, and names that lie inside, are tried on a container: one that follows them is found out", async () => {
    const [refusing] = (await conformance("reference", folder(""), ["NET-03"])).rules;
    expect([refusing?.result, refusing?.problems]).toEqual(["pass", []]);
    expect(refusing?.subjects.join("\n")).toMatch(/redirected to \S+, which is 127\.0\.0\.1/);
    const [following] = (await conformance("leaky", folder(""), ["NET-03"])).rules;
    expect(following?.result).toBe("fail");
    expect(following?.problems.map(({ sentence }) => sentence).join("\n")).toMatch(
      /redirected to https:\/\/127\.0\.0\.1: the redirect was followed/,
    );
  }, 600_000);

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
  }, 600_000);
});
