import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { answerJson, createInstantClock, startProvider } from "../../simulators/loopback.ts";
import { createMemorySink } from "../../tests/memory-sink.ts";
import type { ConnectorReference } from "../contract/host.ts";
import { readConnectorCode } from "./code-digest.ts";
import { createHost } from "./create-host.ts";
import { findConnector } from "./registry.ts";

const club = fileURLToPath(new URL("../../fixtures/manifests/club/", import.meta.url));
const key = "key-K7Qx2mVt9sLw4ZrB8nPy5Dh3Gj6Fc1Ta0Ue7Ri2";
const config = { key };
const authority = await createCertificateAuthority();
const certificate = await authority.issue(["club.example.com"]);

/** The club's API: a closed room, a room that is asked for too early, and a busy list. */
async function startClub() {
  const tries = new Map<string, number>();
  return await startProvider(
    ({ url, headers }, response) => {
      const { pathname, searchParams } = new URL(url, "https://x");
      const asked = (tries.get(pathname) ?? 0) + 1;
      tries.set(pathname, asked);
      if (headers.authorization !== `Bearer ${key}`) return answerJson(response, 401, {});
      if (pathname === "/members")
        return searchParams.get("from") === "2"
          ? answerJson(response, 200, { members: { 3: { name: "Cy" } }, last: null })
          : answerJson(response, 200, { members: { 1: { name: "Ann" }, 2: {} }, last: 2 });
      if (pathname === "/fields") return answerJson(response, 200, ["code", "floor"]);
      if (pathname === "/rooms")
        return asked === 1
          ? answerJson(response, 503, { wait: 40 })
          : answerJson(response, 200, [{ code: "hall", floor: "1" }]);
      if (pathname === "/visits/1/attic") return answerJson(response, 423, {});
      if (pathname === "/visits/3/hall" && asked === 1) return answerJson(response, 425, {});
      if (pathname.startsWith("/visits/")) return answerJson(response, 200, [{ name: pathname }]);
      answerJson(response, 200, [{ id: 1, at: "2026-01-09" }]);
    },
    { certificate },
  );
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-components-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let made = 0;
/** The club with other components, or another manifest. */
async function clubWith(components: string | undefined, change = (manifest: string) => manifest) {
  const own = join(folder, `club-${++made}`);
  await mkdir(own);
  const manifest = change(await readFile(join(club, "manifest.yaml"), "utf8"));
  await writeFile(join(own, "manifest.yaml"), manifest);
  if (components !== undefined) await writeFile(join(own, "components.ts"), components);
  return findConnector(join(own, "manifest.yaml"), "/");
}

async function reading(connector: ConnectorReference, names: readonly string[], state?: object) {
  await using provider = await startClub();
  const clock = createInstantClock(Date.UTC(2026, 0, 15));
  await using host = createHost({ clock, seams: { ...provider.seams, ca: authority.caPem } });
  const streams = await host.discover(connector, config);
  provider.received.length = 0;
  const chosen = streams.filter(({ name }) => names.includes(name));
  const sink = createMemorySink();
  const mode = state ? "incremental" : "full_refresh";
  const summary = await host.read(
    connector,
    {
      config,
      catalog: { streams: chosen.map((stream) => ({ stream, sync_mode: mode })) },
      ...(state
        ? { state: names.map((name) => ({ stream: { name }, state: state as never })) }
        : {}),
    },
    sink,
  );
  const asked = provider.received.map(({ url }) => url);
  return { streams, sink, summary, asked, waits: clock.slept.map((ms) => ms / 1000) };
}

const original = findConnector(join(club, "manifest.yaml"), "/");
const ownComponents = await readFile(join(club, "components.ts"), "utf8");

describe("components in TypeScript beside a manifest, in the sandbox", () => {
  test("extract, filter and transform records, and say the next page", async () => {
    const { sink, summary, asked } = await reading(original, ["members"]);
    expect(summary).toMatchObject({ status: "succeeded" });
    expect(sink.rows("members")).toMatchObject([
      { id: 1, name: "Ann", greeting: "Hello Ann" },
      { id: 3, name: "Cy", greeting: "Hello Cy" },
    ]);
    expect(asked).toEqual(["/members?size=2", "/members?from=2&size=2"]);
  });

  test("make the parts of a stream of its parents, and judge its errors", async () => {
    const { sink, summary, asked, waits } = await reading(original, ["visits"]);
    expect(summary).toMatchObject({ status: "succeeded" });
    expect(sink.rows("visits").map(({ name }) => name)).toEqual([
      ...["/visits/1/hall", "/visits/3/hall", "/visits/3/attic"],
    ]);
    expect(asked.filter((url) => url === "/visits/3/hall")).toHaveLength(2);
    expect(waits).toContain(4);
  });

  test("list the fields of a stream, and say how long to wait", async () => {
    const { streams, sink, waits } = await reading(original, ["rooms"]);
    const rooms = streams.find(({ name }) => name === "rooms");
    expect(Object.keys(rooms?.json_schema.properties ?? {})).toEqual(["code", "floor"]);
    expect(sink.rows("rooms")).toEqual([{ code: "hall", floor: "1" }]);
    expect(waits).toContain(41);
  });

  test("bring a state into the form in which it is read", async () => {
    const { asked, sink } = await reading(original, ["entries"], { last_seen: "2026-01-08" });
    expect(asked).toEqual(["/entries?since=2026-01-08"]);
    expect(sink.state("entries")).toEqual({ at: "2026-01-09" });
  });

  test("belong to the digest of the manifest", async () => {
    const [one, same, other] = await Promise.all(
      [ownComponents, ownComponents, `${ownComponents}\n// changed`].map(async (components) =>
        readConnectorCode((await clubWith(components)).url),
      ),
    );
    expect(one?.digest).toBe(same?.digest);
    expect(other?.digest).not.toBe(one?.digest);
  });
});

describe("a component that is missing or wrong", () => {
  const specOf = async (connector: ConnectorReference) => {
    await using host = createHost();
    return await host.spec(connector);
  };

  test("takes its stream away: by its name, its line and the reason", async () => {
    const { missingStreams } = await specOf(
      await clubWith(ownComponents.replace("export const WithName", "const WithName")),
    );
    const problem = "is WithName, which components.ts does not export";
    const members = "retriever.record_selector.record_filter (line 45)";
    expect(missingStreams).toEqual([
      { stream: "members", path: `streams.members.${members}`, problem },
      { stream: "visits", path: expect.stringContaining(members), problem },
    ]);
  });

  test("without components.ts, all that need one are missing", async () => {
    const connector = await clubWith(undefined, (manifest) =>
      manifest.replace(
        "      - type: CustomStateMigration\n        class_name: source_club.components.FromLastSeen\n",
        "      []\n",
      ),
    );
    const { missingStreams = [], streams = [] } = await specOf(connector);
    expect(missingStreams.map(({ stream }) => stream)).toEqual(["members", "visits", "rooms"]);
    expect(missingStreams[0]?.problem).toBe(
      "is Greeting, a class in Python: components.ts beside the manifest may have it in TypeScript",
    );
    expect(streams).toEqual([]);
  });

  test("of a kind that cannot run here, it is refused with the reason", async () => {
    const connector = await clubWith(ownComponents, (manifest) =>
      manifest.replace(
        'requester: { $ref: "#/definitions/requester", path: /entries }',
        "requester: { type: CustomRequester, class_name: source_club.components.Asker }",
      ),
    );
    const { missingStreams } = await specOf(connector);
    expect(missingStreams).toEqual([
      {
        stream: "entries",
        path: "streams.entries.retriever.requester",
        problem:
          "is Asker, a CustomRequester, which cannot run here: where requests go is known before anything runs",
      },
    ]);
  });

  test.for([
    [
      "another kind",
      "filter: (records)",
      "extract: (records)",
      /\(line 45\) is WithName, which components.ts exports as no CustomRecordFilter: it must be an object with the function filter/,
    ],
    [
      "a syntax error",
      "export const Greeting",
      "export konst Greeting",
      /components.ts has a syntax error/,
    ],
    [
      "an import of a file",
      "import type {",
      'import "./other.ts";\nimport type {',
      /components.ts/,
    ],
  ] as const)("%s is one clear error", async ([, from, to, message]) => {
    const connector = await clubWith(ownComponents.replace(from, to));
    await expect(specOf(connector)).rejects.toMatchObject({
      code: "CONNECTOR_INVALID",
      message: expect.stringMatching(message),
    });
  });

  const failing = async (from: string, to: string) => {
    const changed = ownComponents.replace(from, to);
    expect(changed).not.toBe(ownComponents);
    const { summary } = await reading(await clubWith(changed), ["members"]);
    return summary.streams[0]?.error;
  };

  test("one that throws is told with its line in both files", async () => {
    expect(
      await failing("transform(record, { options }) {", "transform(record, { options }) { null.x;"),
    ).toMatchObject({
      code: "CONNECTOR_FAILED",
      message: expect.stringMatching(
        /failed with a TypeError in components\.ts, line 29, which is streams\.members\.transformations\.0 \(line 33\)/,
      ),
    });
  });

  test.for([
    [
      "gives no records",
      "filter: (records) => records.filter",
      "filter: (records) => records.map",
      /line 45\) gives what is no record/,
    ],
    [
      "gives a value that is no data",
      "greet(options.word, record.name)",
      "new Map()",
      /line 33\) gives an object of a class/,
    ],
    [
      "nests without an end",
      "greet(options.word, record.name)",
      "(() => { const a = []; a.push(a); return a; })()",
      /deeper than 64 levels/,
    ],
    [
      "gives the same token again",
      "(document as { last: number | null }).last",
      '"2"',
      /repeat without end/,
    ],
  ] as const)("one that %s is told", async ([, from, to, message]) => {
    expect((await failing(from, to))?.message).toMatch(message);
  });
});

describe("hostile components", () => {
  test.for([
    [
      "opens a socket",
      'await import("node:net").then(({ connect }) => connect(80, "192.0.2.1"))',
      /outside the sandbox/,
    ],
    ["fetches", 'await fetch("https://192.0.2.1/")', /the network|TypeError/],
    [
      "reads a file",
      'await import("node:fs").then(({ readFileSync }) => readFileSync("/etc/passwd"))',
      /files/,
    ],
    [
      "starts a program",
      'await import("node:child_process").then(({ execSync }) => execSync("id"))',
      /child processes/,
    ],
    ["ends its host", "process.kill(process.ppid, 9)", /outside the sandbox/],
  ] as const)("one that %s is refused", async ([, code, message]) => {
    const changed = ownComponents
      .replace("async schema({", `async schema({`)
      .replace("const headers =", `${code};\n    const headers =`);
    await using provider = await startClub();
    await using host = createHost({ seams: { ...provider.seams, ca: authority.caPem } });
    await expect(host.discover(await clubWith(changed), config)).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  test.for([
    ["loops when it is loaded", "export const ById", "for (;;);\nexport const ById", "load"],
    ["loops when it is asked", "const headers =", "for (;;);\n    const headers =", "respond"],
    [
      "never answers",
      "const headers =",
      "await new Promise(() => {});\n    const headers =",
      "finish",
    ],
  ] as const)("one that %s is stopped", async ([, from, to, phase]) => {
    const limits = { unresponsiveMs: 3_000, verbTimeoutMs: 6_000 };
    await using host = createHost({ limits });
    const connector = await clubWith(ownComponents.replace(from, to));
    await expect(host.discover(connector, config)).rejects.toMatchObject({
      code: "CONNECTOR_TIMEOUT",
      details: { phase },
    });
  });

  test("one that gives records without an end is stopped", async () => {
    const changed = ownComponents.replace(
      "*extract(documents) {",
      "*extract(documents) {\n    for (;;) yield { id: 1 };",
    );
    await using provider = await startClub();
    const limits = { memoryMb: 96, unresponsiveMs: 20_000 };
    await using host = createHost({ limits, seams: { ...provider.seams, ca: authority.caPem } });
    await expect(host.check(await clubWith(changed), config)).resolves.toMatchObject({
      error: { code: expect.stringMatching(/CONNECTOR_(OUT_OF_MEMORY|TIMEOUT)/) },
    });
  });

  test("has no secret: the settings hold a placeholder, and what is made of it stays worthless", async () => {
    const changed = ownComponents
      .replace(
        "greet(options.word, record.name)",
        "greet(config.key, Buffer.from(String(config.key)).toString('hex'))",
      )
      .replace("transform(record, { options })", "transform(record, { config })");
    const { sink } = await reading(await clubWith(changed), ["members"]);
    const text = JSON.stringify(sink.rows("members"));
    expect(text).not.toContain(key);
    expect(text).not.toContain(Buffer.from(key).toString("hex"));
    expect(sink.rows("members")).toHaveLength(2);
  });

  test("reaches no host that the manifest does not name", async () => {
    const connector = await clubWith(ownComponents, (manifest) =>
      manifest.replace(
        "url: https://club.example.com/fields",
        "url: https://elsewhere.example.com/",
      ),
    );
    await using provider = await startClub();
    await using host = createHost({ seams: { ...provider.seams, ca: authority.caPem } });
    await expect(host.discover(connector, config)).rejects.toThrow();
    expect(provider.received).toEqual([]);
  });
});
