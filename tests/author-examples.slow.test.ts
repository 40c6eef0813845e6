/**
 * The examples that README.md and docs/authors.md show, as they stand there: they compile, and
 * whole connectors record from a provider and meet the kit's rules.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { openKit } from "svc-connectors/conformance";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Profile } from "../conformance/contract/rule.ts";
import { type RecordOptions, record } from "../conformance/recorder/record.ts";
import { type Answer, type SimulatedRequest, startServer } from "../simulators/simulator/server.ts";
import { choose, skipUnlessWhole } from "./effort.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
/** Of each sample of runs. */
const effort = choose({ quick: 0.01, whole: 0.05 });
const token = "canary-of-an-example-0123456789-abcdefghij";

let folder: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-examples-")));
  await mkdir(join(folder, "node_modules"));
  await symlink(root, join(folder, "node_modules/svc-connectors"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The output of the compiler. */
async function compile(cwd: string, ...args: string[]): Promise<string> {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const compiling = promisify(execFile)(process.execPath, [compiler, ...args], { cwd });
  return (await compiling.catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout;
}

let declared: Promise<void> | undefined;

/** The declarations of the author's entry, as a build makes them. */
async function emitDeclarations(): Promise<void> {
  const outDir = join(folder, "declarations");
  const settings = join(folder, "tsconfig.declarations.json");
  await writeFile(
    settings,
    JSON.stringify({
      extends: join(root, "tsconfig.build.json"),
      compilerOptions: {
        ...{ rootDir: root, outDir, emitDeclarationOnly: true },
        typeRoots: [join(root, "node_modules/@types")],
      },
      include: [join(root, "runtime/author.ts")],
    }),
  );
  const said = await compile(folder, "-p", settings);
  if (said !== "") throw new Error(said);
  await mkdir(join(outDir, "node_modules"), { recursive: true });
  await symlink(join(root, "node_modules/typebox"), join(outDir, "node_modules/typebox"));
}

interface Example {
  readonly page: string;
  /** Of the connector that the page shows: it may show several. */
  readonly id: string;
  readonly name: string;
  readonly hostname: string;
  readonly config: Record<string, string>;
  /** Besides the core and resuming. */
  readonly profiles?: readonly Profile[];
  answer(request: SimulatedRequest): unknown;
}

const day = (number: number) => `2026-05-${String(number).padStart(2, "0")}T08:00:00Z`;
const tickets = Array.from({ length: 7 }, (_, index) => ({
  id: index + 1,
  title: `Ticket ${index + 1}`,
  closed_at: index % 2 === 0 ? null : day(20 + index),
  updated_at: day(index + 1),
}));

const boards = ["backlog", "ready", "doing", "review", "done"].map((id) => ({
  id,
  name: `Board ${id}`,
}));
/** Each board has some, one three pages of them; later boards have older ones too. */
const cards = [0, 2, 1, 2, 3, 2, 4, 2, 2].map((board, index) => ({
  id: index + 1,
  board_id: boards[board]?.id,
  title: `Card ${index + 1}`,
  updated_at: day(((index * 5) % 9) + 1),
}));

/** A page of two rows, and the token of the next. */
function pageOf(rows: readonly object[], query: URLSearchParams) {
  const start = Number(atob(query.get("cursor") ?? "") || 0);
  const next = start + 2 < rows.length ? btoa(String(start + 2)) : null;
  return { items: rows.slice(start, start + 2), next };
}

const examples: readonly Example[] = [
  {
    page: "README.md",
    id: "conn_quotes",
    name: "quotes",
    hostname: "api.example.com",
    config: { api_token: token },
    answer: ({ path }) =>
      ({
        "/v1/quotes": { data: [1, 2, 3].map((id) => ({ id, text: `Quote ${id}` })) },
      })[path],
  },
  {
    page: "docs/authors.md",
    id: "conn_tickets",
    name: "tickets",
    hostname: "acme.example.com",
    config: { account: "acme", api_token: token },
    profiles: ["resilient"],
    answer({ path, query }) {
      if (path !== "/api/tickets") return undefined;
      const since = query.get("since") ?? "";
      const found = tickets.filter(({ updated_at }) => updated_at >= since);
      const size = Math.min(3, Number(query.get("per_page")));
      const page = Number(query.get("page"));
      return {
        data: found.slice((page - 1) * size, page * size),
        meta: { last_page: Math.max(1, Math.ceil(found.length / size)) },
      };
    },
  },
  {
    page: "docs/authors.md",
    id: "conn_boards",
    name: "boards",
    hostname: "boards.example.com",
    config: { api_token: token },
    profiles: ["resilient"],
    answer({ path, query }) {
      if (path === "/v1/boards") return pageOf(boards, query);
      const [, board] = /^\/v1\/boards\/(\w+)\/cards$/.exec(path) ?? [];
      if (!boards.some(({ id }) => id === board)) return undefined;
      const since = query.get("updated_since") ?? "";
      const found = cards.filter((card) => card.board_id === board && card.updated_at >= since);
      return pageOf(
        found.map(({ board_id, ...card }) => card),
        query,
      );
    },
  },
];

const wholeConnector = "export default defineSource(";

/** The blocks of TypeScript of a page. */
async function blocksOf(page: string): Promise<readonly string[]> {
  const text = await readFile(join(root, page), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ""]) => block);
}

async function wholeConnectorOf({ page, id }: Example): Promise<string> {
  const whole = (await blocksOf(page)).find((block) => block.includes(`id: "${id}"`));
  if (whole === undefined) throw new Error(`${page} shows no whole connector ${id}`);
  return whole;
}

/** The surroundings of a block that is a part of a connector. */
const frames = [
  {
    begins: "auth:",
    around: (part: string) => `http({ baseUrl: "https://api.example.com", ${part} })`,
  },
  {
    begins: "async ",
    around: (part: string) =>
      `defineSource({ id: "conn_a", version: "1.0.0", title: "A", spec: Type.Object({}), streams: [], egress: http({ baseUrl: "https://api.example.com", auth: [] }), async check() {}, async *read() {}, ${part} })`,
  },
];

/** A module of a page's blocks that are no whole connectors. */
async function partsOf(page: string): Promise<string> {
  const parts = (await blocksOf(page)).filter((block) => !block.includes(wholeConnector));
  const framed = parts.map((part) => {
    const frame = frames.find(({ begins }) => part.startsWith(begins));
    if (!frame) throw new Error(`${page}: there is no frame for ${part.slice(0, 40)}`);
    return `export const part${parts.indexOf(part)} = ${frame.around(part)};\n`;
  });
  return `import { ConnectorError, defineSource, http, oauth2, Type } from "svc-connectors";\n${framed.join("")}`;
}

/** Settings of a project that has nothing but svc. */
const strict = () => ({
  ...{ module: "nodenext", target: "es2024", lib: ["es2024"], types: [] },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ skipLibCheck: false, noEmit: true },
  paths: { "svc-connectors": [join(folder, "declarations/runtime/author.d.ts")] },
});

describe.each(
  choose({ quick: examples.slice(0, 1), whole: examples }),
)("the connector $name that $page shows", (example) => {
  const { page, name, hostname, config } = example;
  const place = () => join(folder, name);
  beforeAll(async () => {
    await mkdir(place());
    await writeFile(join(place(), "index.ts"), await wholeConnectorOf(example));
    await writeFile(join(place(), "parts.ts"), await partsOf(page));
  });

  test("compiles strictly, as its parts do, with the declarations searched too, and no others installed", async (context) => {
    skipUnlessWhole(context);
    declared ??= emitDeclarations();
    await declared;
    const settings = { compilerOptions: strict(), include: ["*.ts"] };
    await writeFile(join(place(), "tsconfig.json"), JSON.stringify(settings));
    expect(await compile(place(), "-p", ".")).toBe("");
  });

  test("is recorded, and meets the kit's rules", async () => {
    await using server = await startServer({ hostname, answer: (one) => answerOf(example, one) });
    await recordExample(place(), name, config, { seams: server.seams });
    const { failed, passed } = await tryRules(place(), example.profiles);
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(20);
  });
});

test("a connector whose provider is on this machine is recorded and tried as well, and told to declare another", async (context) => {
  skipUnlessWhole(context);
  const [, example] = examples;
  if (!example) throw new Error("there is no second example");
  const place = join(folder, "local");
  await mkdir(place);
  await using provider = await listen(example);
  const declared = (await wholeConnectorOf(example)).replace(
    "https://{account}.example.com/api",
    `http://127.0.0.1:${provider.port}/api`,
  );
  await writeFile(join(place, "index.ts"), declared);
  await recordExample(place, example.name, example.config, { allowLocal: true });
  const { failed, passed } = await tryRules(place);
  expect(failed).toEqual([
    [
      "SPEC-05",
      "fail",
      [
        expect.objectContaining({
          sentence: expect.stringMatching(/on this machine, at http:.*declare the https:/),
        }),
      ],
    ],
  ]);
  expect(passed).toBeGreaterThan(20);
});

/** The answer of an example's provider. */
function answerOf(example: Example, request: SimulatedRequest): Answer {
  const isKnown = request.headers.authorization === `Bearer ${token}`;
  const found = isKnown ? example.answer(request) : { error: "unauthorized" };
  return {
    status: isKnown ? (found ? 200 : 404) : 401,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(found ?? { error: "not_found" })),
  };
}

/** The same provider as its developer runs it: plain HTTP on a port of this machine. */
async function listen(example: Example) {
  const server = createServer(({ method = "", url = "", headers }, response) => {
    const { pathname: path, searchParams: query } = new URL(url, "http://127.0.0.1");
    const answer = answerOf(example, { method, path, query, headers, body: "" });
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const recordExample = (
  place: string,
  name: string,
  config: Example["config"],
  way: Pick<RecordOptions, "seams" | "allowLocal">,
) =>
  record({
    connector: { name, url: pathToFileURL(join(place, "index.ts")).href },
    config,
    folder: join(place, "fixtures"),
    providerApiVersion: "v1",
    ...way,
  });

/**
 * Rules of the core, of resuming and of more: those that did not pass, with their problems, and how many did.
 */
async function tryRules(cwd: string, more: readonly Profile[] = []) {
  await using kit = await openKit({
    ...{
      connector: ".",
      cwd,
      kind: "module",
      profiles: ["core", "resumable", ...more],
      rules: [],
    },
    ...{ seed: 1, isExhaustive: false, effort, command: "svc conformance ." },
  });
  const { rules } = await kit.run();
  const failed = rules.filter(({ result }) => !["pass", "not-applicable"].includes(result));
  return {
    failed: failed.map(({ id, result, problems }) => [id, result, problems]),
    passed: rules.filter(({ result }) => result === "pass").length,
  };
}
