/** Every way out of a process that Node 26 has, tried by a connector in both sandboxes. */

import dgram from "node:dgram";
import { once } from "node:events";
import { access, chmod, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createHost, type HostEvent, type SandboxLevel } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doors, hostCode } from "../../fixtures/broken/worker/doors.ts";
import { sandboxFolders } from "../../runtime/host/sandbox-code.ts";
import { createMemorySink } from "../memory-sink.ts";
import { broken, rowsOnly } from "./connector.ts";

const secret = "s3cr3t-token-7f3a9c51e8b2d604";
const words = "the operator's own words";
const cases = Object.entries(doors).flatMap(([kind, attempts]) =>
  Object.keys(attempts).map((name) => `${kind}, ${name}`),
);

const nothing = "Error: there is no such thing here";
const ofUndefined = (name: string) =>
  `TypeError: Cannot read properties of undefined (reading '${name}')`;
/** Doors that are shut by something else than the permission model, and what is told of them. */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  "the host, be root": [nothing],
  // It finds no names in a folder that it may not read.
  "files, find files": ["Error: none"],
  "files, read a source map": [nothing],
  "what Node writes by itself, have a report written": ["Error: there is none"],
  "what Node writes by itself, have the reports described": [ofUndefined("getReport")],
  "what Node writes by itself, be kept in a snapshot": ["ERR_NOT_BUILDING_SNAPSHOT"],
  "what Node writes by itself, open a database by its builtin": [nothing],
  "what Node writes by itself, keep something in the web's storage": [ofUndefined("setItem")],
  "what Node writes by itself, keep something for the web's session": [ofUndefined("setItem")],
  "what Node writes by itself, have the module that calls libraries": [nothing],
  "native code, load an engine": ["ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED"],
  // These wrap the refusal, or tell of a closed descriptor.
  "the network, fetch": ["TypeError: fetch failed"],
  "the network, open a web socket": ["[object ErrorEvent]"],
  "the network, find who listens": ["ERR_INVALID_FD_TYPE"],
};
/** Files outside of the namespaces of bubblewrap. */
const notThere = ["ENOENT", "ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

/** The bait for a connector: a file that anybody may change, and servers that hear. */
let folder: string;
let heard: string[];
const server = net.createServer((socket) => {
  heard.push("TCP");
  socket.on("error", () => {}).end();
});
const socketServer = net.createServer(() => void heard.push("unix"));
const udp = dgram.createSocket("udp4").on("message", () => void heard.push("UDP"));

beforeAll(async () => {
  heard = [];
  folder = await mkdtemp(join(tmpdir(), "svc-doors-"));
  await writeFile(join(folder, "file.txt"), words);
  await chmod(folder, 0o777);
  await chmod(join(folder, "file.txt"), 0o666);
  await once(server.listen(0), "listening");
  await once(socketServer.listen(join(folder, "socket")), "listening");
  await once(udp.bind(0), "listening");
});
afterAll(async () => {
  server.close();
  socketServer.close();
  udp.close();
  await rm(folder, { recursive: true, force: true });
});

test("a file of each folder of the host is among the doors", async () => {
  const runtime = new URL("../../runtime/", import.meta.url);
  const folders = (await readdir(runtime, { withFileTypes: true })).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  );
  const ofHost = folders.filter((name) => !(sandboxFolders as readonly string[]).includes(name));
  expect([...new Set(hostCode.filter((file) => file.includes("/")).map(dirname))].sort()).toEqual(
    ofHost.sort(),
  );
  for (const file of hostCode) await access(new URL(file, runtime));
});

async function tryDoors(sandbox: SandboxLevel, only?: string) {
  await using host = createHost({ sandbox });
  const sink = createMemorySink();
  const events: HostEvent[] = [];
  const { port } = server.address() as AddressInfo;
  const region = JSON.stringify({ folder, port, udpPort: udp.address().port, only });
  const config = { api_token: secret, region };
  const summary = await host.read(broken("doors"), { config, catalog: rowsOnly }, sink, {
    onEvent: (event) => events.push(event),
  });
  const texts = sink.rows().map(({ text }) => String(text));
  return { summary, events, texts, text: sink.text() + JSON.stringify([summary, events]) };
}

test.each([
  "empty the list",
  "take another list",
  "publish nothing",
  "publish nothing anywhere",
  "have another number",
  "be another channel",
])("a connector that would silence the refusals is heard: %s", async (region) => {
  await using host = createHost({ sandbox: "process" });
  const sink = createMemorySink();
  const denied: string[] = [];
  const config = { api_token: secret, region };
  await host.read(broken("silencing"), { config, catalog: rowsOnly }, sink, {
    onEvent: (event) => event.type === "denied" && denied.push(event.resource),
  });
  expect(sink.rows().map(({ text }) => text)).toEqual(["ERR_ACCESS_DENIED"]);
  expect(denied).toEqual(["files"]);
});

describe.each(["process", "bubblewrap"] as const)("at level %s a connector cannot", (sandbox) => {
  let outcome: Awaited<ReturnType<typeof tryDoors>> | undefined;
  beforeAll(async () => {
    outcome = await tryDoors(sandbox).catch((error: { code?: string }) => {
      if (error.code === "SANDBOX_UNAVAILABLE") return undefined;
      throw error;
    });
  });

  test.for(cases)("%s", (name, { skip }) => {
    if (!outcome) return skip("bubblewrap is not installed or not allowed here");
    const told = outcome.texts.filter((text) => text.startsWith(`${name}: `));
    expect(told).toHaveLength(1);
    const refusal = told[0]?.slice(`${name}: refused: `.length) ?? "";
    const isGone = sandbox === "bubblewrap" && /^(?:the host|files), /.test(name);
    const allowed = ["ERR_ACCESS_DENIED", ...(isGone ? notThere : []), ...(otherwise[name] ?? [])];
    expect(told[0]).toBe(`${name}: refused: ${refusal}`);
    expect(allowed).toContain(refusal);
  });

  test("do any of it unseen, keep a right, or see a secret", ({ skip }) => {
    if (!outcome) return skip("bubblewrap is not installed or not allowed here");
    const { summary, events, texts, text } = outcome;
    expect(summary.status).toBe("succeeded");
    expect(texts.slice(-4)).toEqual([
      "rights: []",
      "flags: []",
      "environment: {}",
      expect.stringMatching(/^config: \{"region":"[^}]*\}"\}$/),
    ]);
    expect(text.match(/all that it has/g)?.length).toBeGreaterThanOrEqual(4);
    expect(text).not.toContain(secret);
    const denied = events.flatMap((event) => (event.type === "denied" ? [event.resource] : []));
    expect([...new Set(denied)].sort()).toEqual(
      expect.arrayContaining(["child processes", "files", "other processes", "the network"]),
    );
  });

  test("leave a trace in a file, a folder or a server", async ({ skip }) => {
    if (!outcome) return skip("bubblewrap is not installed or not allowed here");
    expect(heard).toEqual([]);
    expect((await readdir(folder)).sort()).toEqual(["file.txt", "socket"]);
    expect(await readFile(join(folder, "file.txt"), "utf8")).toBe(words);
  });
});
