import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { beforeAll, describe, expect, test } from "vitest";
import { buildImages, hasDocker } from "../../fixtures/images/docker.ts";
import { createContainerTarget } from "./container.ts";
import { connectDocker } from "./container-docker.ts";

describe.skipIf(!hasDocker)("with Docker", () => {
  beforeAll(() => buildImages("reference"));

  test("nothing of a target is left in Docker", async () => {
    const image = "svc-test-reference";
    const target = await createContainerTarget({ image });
    const docker = await connectDocker(image);
    const gateways = async () =>
      (await docker.listNetworks({ filters: { label: ["svc-conformance.owner"] } })).map(
        ({ IPAM }) => IPAM?.Config?.[0]?.Gateway,
      );
    expect(await gateways()).toContain(target.proxy?.host);
    await target[Symbol.asyncDispose]();
    expect(await gateways()).not.toContain(target.proxy?.host);
  });

  test("what a killed kit left is removed by the next one", async () => {
    const image = "svc-test-reference";
    const docker = await connectDocker(image);
    const dead = spawnSync("true").pid;
    const label = { "svc-conformance.owner": `${hostname()}/${dead}` };
    const network = await docker.createNetwork({
      Name: `svc-test-${randomUUID()}`,
      Internal: true,
      Labels: label,
    });
    const container = await docker.createContainer({ Image: image, Labels: label });
    await using _target = await createContainerTarget({ image });
    await expect(container.inspect()).rejects.toThrow("no such container");
    await expect(network.inspect()).rejects.toThrow("no such network");
  });

  test("an image that does not exist is the user's to build", async () => {
    await expect(createContainerTarget({ image: "localhost:1/missing" })).rejects.toThrow(
      "The image localhost:1/missing is not on this machine and cannot be pulled: build it, or check its name.",
    );
  });
});
