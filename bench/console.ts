/**
 * The console with 6,000 streams against itself with 60, at both widths: until the list can be
 * used, scrolling, searching, choosing all, memory. `node --conditions=svc-source
 * bench/console.ts`; needs `npm run build`, Chromium and PostgreSQL. Ratios are printed as a table.
 */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { findChromium } from "../simulators/authorization/chromium.ts";
import { startPostgres } from "../simulators/postgres-server.ts";
import { median } from "./run.ts";

const sizes = [60, 6_000] as const;
const widths = [1440, 360] as const;
const rounds = 3;

/** Costs of opening the streams of a new pipeline once; ms. */
interface Look {
  /** From the address to the first rows, and of it what the API takes. */
  readonly usable: number;
  readonly api: number;
  /** Of 120 frames, each of which scrolls by a whole screen. */
  readonly longestFrame: number;
  readonly framesOver50: number;
  /** The longest task of these frames in time of the processor: what others run does not count. */
  readonly longestTask: number;
  /** From a key or click to the next picture, as the browser tells it: the longest. */
  readonly search: number;
  readonly all: number;
  readonly heapMb: number;
}

// Text, since it is the page's own code.
const scrolled = `new Promise((resolve) => {
  const list = document.querySelector(".streams");
  const frames = [];
  let last;
  const step = (now) => {
    if (last !== undefined) frames.push(now - last);
    last = now;
    if (frames.length === 120) return resolve(frames);
    list.scrollTop += list.clientHeight;
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 1) list.scrollTop = 0;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})`;
const watched = `globalThis.longest = 0; new PerformanceObserver((told) => {
  for (const { duration } of told.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
}).observe({ type: "event", durationThreshold: 16 });`;
const asked = `performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/control/v1/"))
  .reduce((latest, { responseEnd }) => Math.max(latest, responseEnd), 0)`;

/**
 * The longest since the last look, once the browser has told of it; below 16 ms it tells nothing.
 */
async function longest(page: Page): Promise<number> {
  await page.waitForTimeout(300);
  return Number(await page.evaluate("((was) => { globalThis.longest = 0; return was; })(longest)"));
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly args?: { readonly name?: string };
  /** In microseconds of its thread's own time. */
  readonly tdur?: number;
}

/** In ms, of the page's own thread. */
function longestTaskOf(trace: Buffer): number {
  const { traceEvents: events } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  const pages = new Set(
    events
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(threadOf),
  );
  const tasks = events.filter((one) => /RunTask$/.test(one.name) && pages.has(threadOf(one)));
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

/** Looks at each picture: who asks the page from outside asks every half second at last. @returns ms */
async function untilShown(page: Page, condition: string): Promise<number> {
  return Number(
    await page.evaluate(`new Promise((resolve) => {
      const look = () => (${condition}) ? resolve(performance.now()) : requestAnimationFrame(look);
      look();
    })`),
  );
}

async function look(browser: Browser, page: Page, url: string, size: number): Promise<Look> {
  await page.goto("about:blank");
  await page.goto(url);
  const count = size.toLocaleString("en");
  const usable = await untilShown(
    page,
    `document.body?.textContent.includes("${count} of ${count} chosen") &&
      [...document.querySelectorAll("[aria-label=Streams] *")].some((one) => one.textContent === "t1")`,
  );
  const api = Number(await page.evaluate(asked));
  await page.evaluate(watched);
  await browser.startTracing(page, {
    categories: ["toplevel", "disabled-by-default-devtools.timeline"],
  });
  const frames = (await page.evaluate(scrolled)) as number[];
  const longestTask = longestTaskOf(await browser.stopTracing());
  await longest(page);
  await page.getByRole("textbox", { name: "Search streams" }).pressSequentially("t59");
  await page.getByRole("textbox", { name: "Search streams" }).fill("");
  const search = await longest(page);
  await page.getByLabel("All", { exact: true }).uncheck();
  await page.getByLabel("All", { exact: true }).check();
  const all = await longest(page);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  await devtools.detach();
  return {
    usable,
    api,
    longestFrame: Math.max(...frames),
    framesOver50: frames.filter((ms) => ms > 50).length,
    longestTask,
    search,
    all,
    heapMb: usedSize / 1e6,
  };
}

/** Home of an empty workspace in a browser that has been nowhere: its size and its time. */
async function firstPage(browser: Browser, page: Page, origin: string): Promise<string> {
  const storageState = await page.context().storageState();
  const times: number[] = [];
  let size = 0;
  for (let round = 0; round < 5; round++) {
    const context = await browser.newContext({ storageState });
    const first = await context.newPage();
    await first.goto(origin);
    times.push(
      await untilShown(
        first,
        `[...document.querySelectorAll("h2")].some((one) => one.textContent === "From nothing to rows")`,
      ),
    );
    size = Number(
      await first.evaluate(`performance.getEntriesByType("resource")
        .filter(({ name }) => name.includes("/assets/"))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`),
    );
    await context.close();
  }
  return `First page: ${(size / 1_000).toFixed(0)} kB compressed, usable in ${median(times).toFixed(0)} ms.`;
}

/** `svc serve` in a folder of its own, and the link that it prints. */
async function startServer(folder: string) {
  await writeFile(
    join(folder, "svc.config.yaml"),
    "allow_networks: [127.0.0.0/8]\nserver: { port: 0 }\n",
  );
  const svc = fileURLToPath(new URL("../svc.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=svc-source", svc, "serve"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const link = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
      const found = /http\S+#\/sign-in\/\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.once("close", () => reject(new Error(`svc serve ended: ${text}`)));
  });
  return { link, [Symbol.dispose]: () => void child.kill() };
}

/**
 * A source of this many tables and a destination, made as the page itself would.
 * @returns its address
 */
async function makeEnds(page: Page, origin: string, config: object, size: number) {
  const post = async (path: string, body: object) => {
    const { data } = (await page.evaluate(
      `fetch("/control/v1${path}", { method: "POST", headers: { "content-type": "application/json", "x-svc-console": "1" },
        body: ${JSON.stringify(JSON.stringify(body))} }).then((answer) => answer.json())`,
    )) as { data: Record<string, string> };
    return data;
  };
  const { password, ...configuration } = config as { password: string };
  const connector_id = "conn_postgres";
  const name = `${size} tables`;
  const { credential_handle } = await post("/credentials", {
    connector_id,
    name,
    secrets: { password },
  });
  const { source_id } = await post("/sources", {
    name,
    connector_id,
    credential_handle,
    configuration,
  });
  return `${origin}/#/pipelines/new/source/${source_id}`;
}

async function run(browser: Browser): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "bench-console-"));
  await using postgres = await startPostgres();
  using server = await startServer(folder);
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(server.link);
  await page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
  const { origin } = new URL(server.link);
  console.log(await firstPage(browser, page, origin));
  await page.evaluate(
    `fetch("/control/v1/destinations", { method: "POST", headers: { "content-type": "application/json", "x-svc-console": "1" },
      body: JSON.stringify({ name: "DuckDB", connector_id: "conn_duckdb", configuration: { file: "bench" } }) })`,
  );
  const { host, port, password } = postgres;
  const looks = new Map<string, Look[]>();
  const urls: string[] = [];
  for (const size of sizes) {
    const database = await postgres.createDatabase();
    await database.query(`DO $$ BEGIN FOR t IN 1..${size} LOOP
      EXECUTE format('CREATE TABLE t%s (id bigint PRIMARY KEY, name text, note text, total numeric, made_at timestamptz, updated_at timestamptz)', t);
    END LOOP; END $$`);
    const config = {
      host,
      port,
      database: database.name,
      username: "postgres",
      password,
      ssl_mode: "disable",
    };
    urls.push(await makeEnds(page, origin, config, size));
  }
  for (let round = 0; round < rounds; round++)
    for (const width of widths) {
      await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
      for (const [index, size] of sizes.entries()) {
        const key = `${width} ${size}`;
        looks.set(key, [
          ...(looks.get(key) ?? []),
          await look(browser, page, urls[index] ?? "", size),
        ]);
      }
    }
  console.log("| at | what | 6,000 streams | 60 streams | ratio |\n|---|---|---|---|---|");
  for (const width of widths)
    for (const what of [
      "usable",
      "api",
      "longestFrame",
      "framesOver50",
      "longestTask",
      "search",
      "all",
      "heapMb",
    ] as const) {
      const [few = 0, many = 0] = sizes.map((size) =>
        median((looks.get(`${width} ${size}`) ?? []).map((one) => one[what])),
      );
      console.log(
        `| ${width} px | ${what} | ${many.toFixed(1)} | ${few.toFixed(1)} | ${(many / few).toFixed(2)} |`,
      );
    }
  await context.close();
  await rm(folder, { recursive: true, force: true });
}

const executablePath = findChromium();
if (executablePath === undefined)
  throw new Error("No Chromium is installed: apt-get install chromium.");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  await run(browser);
} finally {
  await browser.close();
}
