import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Sink } from "../contract/sink.ts";
import { createHost } from "./create-host.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-kept-"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "part.js"), "export const part = { loads: 0 };");
  await writeFile(join(folder, "old.cjs"), "module.exports = { loads: 0 };");
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs between the two, each of which is ended at its first request or status, or before. */
interface EndedRuns {
  readonly count: number;
  /** Default: a check is cancelled at its request. */
  readonly isEarly?: boolean;
  readonly consumer?: "gone";
  /** After its request. */
  readonly goesOn?: string;
  readonly graceMs?: number;
}

const config = { token: "a-token" };
const goneSink: Sink = {
  lineFormat: "rows",
  open: async () => {},
  checkpoint: async () => {},
  close: async () => {},
  status: () => Promise.reject(new Error("nobody reads")),
};

/** The processes of two runs, and how often its modules have been loaded when each began. */
async function runTwice(
  name: string,
  code: string,
  { count, isEarly = false, consumer, goesOn = "", graceMs = 60_000 }: EndedRuns = { count: 0 },
) {
  const file = join(folder, `${name}.js`);
  await writeFile(
    file,
    `import { bearer, defineSource, http, secret, Type } from "svc-connectors";
     import { part } from "./part.js";
     import old from "./old.cjs";
     ${code}
     export default defineSource({
       id: "conn_kept", version: "1.0.0", title: [process.pid, ++part.loads, ++old.loads].join(" "),
       spec: Type.Object({ token: secret(Type.String({ title: "Token", description: "A token." })) }, { additionalProperties: false }),
       egress: http({ baseUrl: "https://api.example.com", auth: bearer("token") }),
       streams: [{ name: "notes", schema: Type.Object({}) }],
       async check(ctx) { await ctx.http.get(["me"])${goesOn}; },
       async *read(ctx) { await ctx.http.get(["notes"])${goesOn}; },
     });`,
  );
  let cancels = new AbortController();
  await using host = createHost({
    keepsWorkers: true,
    limits: { graceMs },
    // Nobody answers: a check waits until it is cancelled.
    seams: {
      resolve: () => {
        cancels.abort();
        return new Promise(() => {});
      },
    },
  });
  const connector = { name, url: pathToFileURL(file).href };
  const seen: string[][] = [];
  for (const at of [1, 2]) {
    seen.push((await host.spec(connector)).title.split(" "));
    if (at === 2) break;
    for (let ended = 0; ended < count; ended++) {
      cancels = new AbortController();
      const { signal } = cancels;
      if (isEarly) cancels.abort();
      if (consumer === "gone") {
        const listed = await host.discover(connector, config);
        const streams = listed.map((stream) => ({ stream, sync_mode: "full_refresh" as const }));
        const { status } = await host.read(connector, { config, catalog: { streams } }, goneSink);
        expect(status).toBe("failed");
      } else
        await expect(host.check(connector, config, { signal })).rejects.toMatchObject({
          code: "CANCELLED",
        });
    }
  }
  const [first = [], second = []] = seen;
  return { isKept: first[0] === second[0], loads: [first.slice(1), second.slice(1)] };
}

test("a kept worker serves the next run with modules of its own", async () => {
  expect(await runTwice("good", "setTimeout(() => {}, 1_000).close();")).toEqual({
    isKept: true,
    loads: [
      ["1", "1"],
      ["1", "1"],
    ],
  });
});

test("a run that is cancelled and ends by itself leaves its worker to the next one", async () => {
  expect(await runTwice("cancelled", "", { count: 5 })).toEqual({
    isKept: true,
    loads: [
      ["1", "1"],
      ["1", "1"],
    ],
  });
});

test("a run that is cancelled before it begins leaves its worker to the next one", async () => {
  expect((await runTwice("early", "", { count: 5, isEarly: true })).isKept).toBe(true);
});

test("a read whose consumer goes away leaves its worker to the next one", async () => {
  expect((await runTwice("left", "", { count: 5, consumer: "gone" })).isKept).toBe(true);
});

test.each([
  ["it is cancelled", {}],
  ["its consumer has gone", { consumer: "gone" }],
] as const)("a worker whose run goes on though %s serves no further one", async (_, ended) => {
  const goesOn = ".catch(() => new Promise(() => {}))";
  const seen = await runTwice("stubborn", "", { count: 1, ...ended, goesOn, graceMs: 50 });
  expect(seen.isKept).toBe(false);
});

test.each([
  ["a global", "globalThis.left = 1;"],
  ["a changed prototype", "Array.prototype.left = 1;"],
  ["a changed hidden prototype", "Object.getPrototypeOf(function* () {}).left = 1;"],
  ["a replaced function", "JSON.parse = () => ({});"],
  ["a changed built-in module", "import fs from 'node:fs'; fs.readFile = undefined;"],
  ["a built-in's changed class", "import { Agent } from 'node:http'; Agent.prototype.left = 1;"],
  ["output", "console.log('left');"],
  ["a listener of the process", "process.on('left', () => {});"],
  ["a timer", "setInterval(() => {}, 1_000);"],
  ["a timer that holds nothing", "setInterval(() => {}, 1_000).unref();"],
  ["a deadline", "AbortSignal.timeout(1_000);"],
  ["much memory", "export const rows = new Array(2 ** 25).fill(1);"],
  ["a frozen object", "Object.freeze(Math);"],
  [
    "an attempt at what the sandbox refuses",
    "import('node:fs').then(({ writeFileSync }) => writeFileSync('/tmp/left', '')).catch(() => {});",
  ],
])("a worker whose run leaves %s behind serves no further one", async (name, code) => {
  const { isKept, loads } = await runTwice(name.replaceAll(/\W/g, "-"), code);
  expect({ isKept, loads }).toEqual({
    isKept: false,
    loads: [
      ["1", "1"],
      ["1", "1"],
    ],
  });
});
