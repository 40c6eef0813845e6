/** compose.yaml against what it starts. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "@commander-js/extra-typings";
import type { Terminal } from "svc-connectors/host";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { buildServe } from "../control/commands/serve.ts";
import { loadOperatorSettings } from "../control/commands/settings-file.ts";

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly deploy?: { readonly replicas: number };
}

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");
const compose = parse(await read("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly configs: { readonly settings: { readonly content: string } };
};
const { server, worker } = compose.services;

test("compose.yaml starts two servers that run no jobs, and three workers", () => {
  expect(server).toMatchObject({ deploy: { replicas: 2 } });
  expect(worker).toMatchObject({ deploy: { replicas: 3 }, command: ["worker"] });
  const flags =
    server?.command?.filter((word) => word.startsWith("--")).map((word) => word.slice(2)) ?? [];
  expect(flags).toContain("no-jobs");
  const serve = new Command("serve");
  buildServe(serve, {} as Terminal);
  const known = serve.options.map((option) => option.name());
  for (const flag of flags) expect(known).toContain(flag);
});

test("compose.yaml publishes its ports to this machine only", () => {
  const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
  expect(ports).toHaveLength(1);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
});

test("compose.yaml has settings that svc accepts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-compose-"));
  try {
    // Compose takes two for one.
    const text = compose.configs.settings.content.replaceAll("$$", "$").replaceAll("secrets/", "");
    await writeFile(join(folder, "svc.config.yaml"), text);
    await writeFile(join(folder, "database-url.txt"), "postgres://svc:word@postgres:5432/svc");
    expect(await loadOperatorSettings(folder, undefined)).toMatchObject({
      keyFile: join(folder, "keys.json"),
      databaseUrl: "postgres://svc:word@postgres:5432/svc",
      metrics: { host: "0.0.0.0", port: 9464 },
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the image has the Node that the package asks for", async () => {
  const { engines } = JSON.parse(await read("package.json")) as {
    readonly engines: { readonly node: string };
  };
  const major = /^>=(\d+)$/.exec(engines.node)?.[1];
  expect(await read("Dockerfile")).toContain(`ARG NODE_IMAGE=node:${major}-`);
  expect(await read("compose.yaml")).toContain(`NODE_IMAGE:-node:${major}-`);
});
