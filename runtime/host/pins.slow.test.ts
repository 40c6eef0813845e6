import { appendFile, cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConnectorPin } from "../contract/host.ts";
import type { Source } from "../contract/source.ts";
import { packageRoot } from "../wire/location.ts";
import { manifestDigest, readConnectorCode } from "./code-digest.ts";
import { createHost } from "./create-host.ts";

// A connector from outside, with a package of its own: it is loaded for as long as it is the one
// that was looked at.

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-pins-")));
  await makeConnector(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const module = (title: string) => `
import { defineSource, http, bearer, secret, records, Type } from "svc-connectors";
import { word } from "left";
export default defineSource({
  id: "conn_outside",
  version: "1.0.0",
  title: ${title},
  spec: Type.Object({ token: secret(Type.String({ title: "Token", description: "Yours." })) }),
  egress: http({ baseUrl: "https://api.example.com", auth: bearer("token") }),
  streams: [{ name: word, schema: Type.Object({ id: Type.Integer() }) }],
  async check() {},
  async *read() { yield records([{ id: 1 }]); },
});
`;

async function makeConnector(at: string, title = '"Outside"') {
  const packages = join(at, "node_modules");
  await mkdir(join(packages, "left"), { recursive: true });
  await mkdir(join(packages, "other"));
  await symlink(packageRoot, join(packages, "svc-connectors"));
  const packageJson = {
    type: "module",
    dependencies: { left: "1" },
    peerDependencies: { "svc-connectors": "*", absent: "*" },
  };
  await writeFile(join(at, "package.json"), JSON.stringify(packageJson));
  await writeFile(join(at, "index.ts"), module(title));
  await writeFile(join(at, "notes.md"), "nothing that a worker reads");
  const left = { name: "left", version: "1.0.0", type: "module", exports: "./index.js" };
  await writeFile(join(packages, "left/package.json"), JSON.stringify(left));
  await writeFile(join(packages, "left/index.js"), 'export const word = "words";');
  await writeFile(join(packages, "other/index.js"), "export {};");
}

const urlOf = (at = folder) => pathToFileURL(join(at, "index.ts")).href;
const digest = async (at = folder) => (await readConnectorCode(urlOf(at))).digest;
const reference = (pin: ConnectorPin, at = folder) => ({ name: "outside", url: urlOf(at), pin });
const changed = (problem: string) =>
  expect.objectContaining({ code: "CONNECTOR_CHANGED", details: { problem } });

describe("the digest of a connector's code", () => {
  test("is the same wherever the same is installed", async () => {
    const elsewhere = join(folder, "deeper", "copy");
    await makeConnector(elsewhere);
    await rm(join(elsewhere, "node_modules/left"), { recursive: true });
    await cp(join(folder, "node_modules/left"), join(folder, "deeper/node_modules/left"), {
      recursive: true,
    });
    expect(await digest(elsewhere)).toMatch(/^sha256:[0-9a-f]{64}$/);
    const other = await digest(elsewhere);
    await rm(join(folder, "deeper"), { recursive: true });
    expect(await digest()).toBe(other);
  });

  test.each([
    "index.ts",
    "package.json",
    "node_modules/left/index.js",
    "node_modules/left/package.json",
  ])("changes with one byte of %s", async (name) => {
    const before = await digest();
    await appendFile(join(folder, name), " ");
    expect(await digest()).not.toBe(before);
  });

  test("changes with a file more of its code or of its packages", async () => {
    const before = await digest();
    await writeFile(join(folder, "more.js"), "");
    const more = await digest();
    await writeFile(join(folder, "node_modules/left/more.json"), "");
    expect(new Set([before, more, await digest()]).size).toBe(3);
  });

  test("does not change with what its worker cannot read", async () => {
    const before = await digest();
    await appendFile(join(folder, "notes.md"), "more");
    await appendFile(join(folder, "node_modules/other/index.js"), "more");
    expect(await digest()).toBe(before);
  });

  test("is refused for a link in a package, which would open what it leads to", async () => {
    await symlink("/etc/hostname", join(folder, "node_modules/left/link.js"));
    await expect(readConnectorCode(urlOf())).rejects.toMatchObject({ code: "CONNECTOR_INVALID" });
  });

  test("is refused for a package that is a link to somebody's work", async () => {
    await mkdir(join(folder, "work"));
    await rm(join(folder, "node_modules/left"), { recursive: true });
    await symlink("../work", join(folder, "node_modules/left"));
    await expect(readConnectorCode(urlOf())).rejects.toMatchObject({ code: "CONNECTOR_INVALID" });
  });
});

test("a worker of it reads its own packages, and no others that are installed there", async () => {
  const { paths } = await readConnectorCode(urlOf());
  const own = paths.filter((path) => path.startsWith(join(folder, "node_modules")));
  expect(own).toContain(join(folder, "node_modules/left/"));
  expect(own.filter((path) => path.includes("/other"))).toEqual([]);
});

test("svc itself needs not be installed beside it: it gets the one that runs it", async () => {
  const pin: ConnectorPin = { code: await digest(), sandbox: "process" };
  await rm(join(folder, "node_modules/svc-connectors"));
  await using host = createHost();
  expect((await host.spec({ name: "outside", url: urlOf() })).id).toBe("conn_outside");
  expect((await host.spec(reference(pin))).id).toBe("conn_outside");
});

test("a package that it does not ask for is told by its name", async () => {
  await writeFile(join(folder, "index.ts"), `import "other";${module('"Outside"')}`);
  await using host = createHost();
  await expect(
    host.spec(reference({ code: await digest(), sandbox: "process" })),
  ).rejects.toMatchObject({
    code: "CONNECTOR_INVALID",
    details: { problem: expect.stringContaining('"other"') },
  });
});

test("TypeScript in an installed package is told as such", async () => {
  const at = join(folder, "host/node_modules/outside");
  await makeConnector(at);
  await using host = createHost();
  const pin = { code: await digest(at), sandbox: "process" } as const;
  await expect(host.spec(reference(pin, at))).rejects.toMatchObject({
    code: "CONNECTOR_INVALID",
    details: { problem: expect.stringContaining("TypeScript") },
  });
});

describe.each(["process", "bubblewrap"] as const)("behind the wall %s, it", (sandbox) => {
  test("is loaded while its code is the one that was looked at, and no longer", async () => {
    await using host = createHost({ sandbox: "process", keepWarm: 1 });
    const pin = { code: await digest(), sandbox };
    expect((await host.spec(reference(pin))).streams?.[0]?.name).toBe("words");
    await appendFile(join(folder, "node_modules/left/index.js"), " ");
    await expect(host.spec(reference(pin))).rejects.toEqual(changed("its files have changed"));
    // Adding it again heals.
    expect(await host.spec(reference({ ...pin, code: await digest() }))).toMatchObject({
      id: "conn_outside",
    });
  });
});

describe("it is not loaded", () => {
  test("when it says something else of itself than before", async () => {
    await writeFile(join(folder, "index.ts"), module('"Outside " + Math.random()'));
    await using host = createHost();
    const pin: ConnectorPin = { code: await digest(), sandbox: "process" };
    const manifest = manifestDigest(await host.spec(reference(pin)));
    await expect(host.spec(reference({ ...pin, manifest }))).rejects.toEqual(
      changed("it says something else of itself than before"),
    );
  });

  test("when its module is gone", async () => {
    await using host = createHost();
    const pin: ConnectorPin = { code: await digest(), sandbox: "process" };
    await rm(join(folder, "index.ts"));
    await expect(host.spec(reference(pin))).rejects.toEqual(changed("its module is not there"));
  });

  test("when it was removed", async () => {
    await using host = createHost();
    const pin: ConnectorPin = { code: await digest(), sandbox: "process", isRemoved: true };
    await expect(host.spec(reference(pin))).rejects.toMatchObject({ code: "CONNECTOR_REMOVED" });
  });

  test("in this process, whatever the host's level is", async () => {
    const started: string[] = [];
    const aroundSource = (source: Source) => {
      started.push(source.id);
      return source;
    };
    await using host = createHost({ sandbox: "inline", aroundSource });
    await host.spec(reference({ code: await digest(), sandbox: "process" }));
    expect(started).toEqual([]);
  });
});
