/**
 * An author at their desk: a connector whose provider is on this machine, on the command line with
 * `--allow-local` and without.
 */
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../../tests/command.ts";

const token = "canary-of-a-desk-token-0123456789";
const received: string[] = [];
const server = createServer(({ url, headers }, response) => {
  received.push(`${headers.authorization === `Bearer ${token}`} ${url}`);
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify([{ id: 1, name: "one" }]));
});

let folder: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  folder = await mkdtemp(join(tmpdir(), "svc-desk-"));
  const { port } = server.address() as AddressInfo;
  await writeFile(join(folder, "c.json"), JSON.stringify({ token }));
  await writeFile(
    join(folder, "tickets.ts"),
    `import { bearer, defineSource, http, records, secret, Type } from "svc-connectors";
export default defineSource({
  id: "conn_tickets",
  version: "1.0.0",
  title: "Tickets",
  spec: Type.Object({ token: secret(Type.String({ title: "Token", description: "Any." })) }),
  egress: http({ baseUrl: "http://127.0.0.1:${port}/v2", auth: bearer("token") }),
  streams: [
    { name: "tickets", schema: Type.Object({ id: Type.Integer(), name: Type.String() }), primaryKey: ["id"] },
  ],
  async check(ctx) { await ctx.http.get(["me"]); },
  async *read(ctx) {
    yield records((await ctx.http.get(["tickets"])).json<{ id: number; name: string }[]>());
  },
});
`,
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function svc(...args: string[]) {
  received.length = 0;
  return await runCommand(args, { cwd: folder });
}

const withConfig = ["./tickets.ts", "--config", "c.json"];

test("svc spec lists its settings: it is a connector like any other", async () => {
  expect(await svc("spec", "./tickets.ts")).toMatchObject({ code: 0, stderr: "" });
});

test.each([
  "check",
  "read",
  "discover",
])("svc %s works with --allow-local, and without it nothing is asked and the text says what to pass", async (verb) => {
  const out = verb === "read" ? ["--out", "out"] : [];
  const refused = await svc(verb, ...withConfig, ...out);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/on this machine .*Pass --allow-local .*\(LOCAL_REFUSED\)/);
  expect(received).toEqual([]);

  expect(await svc(verb, ...withConfig, ...out, "--allow-local")).toMatchObject({ code: 0 });
  expect(received).toEqual(
    { check: ["true /v2/me"], read: ["true /v2/tickets"], discover: [] }[verb],
  );
  if (verb !== "read") return;
  const [file = ""] = (await readdir(join(folder, "out"))).filter((name) => /jsonl$/.test(name));
  expect(await readFile(join(folder, "out", file), "utf8")).toContain('"name":"one"');
});

test("nothing else allows it: neither a setting, a configuration nor the protocol's command", async () => {
  await writeFile(join(folder, "settings.yaml"), "allow_local: true\n");
  await writeFile(join(folder, "open.yaml"), 'allow_networks: ["127.0.0.0/8"]\n');
  await writeFile(join(folder, "c2.json"), JSON.stringify({ token, allow_local: true }));
  const check = (...args: string[]) => svc("check", ...withConfig, ...args);
  expect(await check("--settings", "settings.yaml")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("allow_local is not a setting"),
  });
  expect((await check("--settings", "open.yaml")).stderr).toContain("LOCAL_REFUSED");
  expect(await svc("check", "./tickets.ts", "--config", "c2.json")).toMatchObject({ code: 2 });
  expect(await svc("run", "./tickets.ts", "check", "--config", "c.json")).toMatchObject({
    stdout: expect.stringContaining("Pass --allow-local"),
  });
  expect((await svc("run", ...withConfig, "--allow-local")).code).toBe(2);
  expect(received).toEqual([]);
});
