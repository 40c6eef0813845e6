/**
 * The console in a real browser, for tests: a server, its simulated providers, and a person's
 * pages.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { expect, onTestFinished, vi } from "vitest";
import { buildConsole } from "../build/console.ts";
import { createLinkCode } from "../control/contract/ids.ts";
import { createServer } from "../control/http/server.ts";
import { createSession } from "../control/members/sessions.ts";
import type { NetworkSeams } from "../runtime/host.ts";
import { findChromium } from "../simulators/authorization/chromium.ts";
import { sharedAuthority } from "../simulators/certificates.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { startSocial } from "../simulators/social/social.ts";
import { startWebhook } from "../simulators/webhook/webhook.ts";
import { startTestControl } from "./control.ts";
import { choose } from "./effort.ts";
import { soon } from "./soon.ts";

export const executable = findChromium();
/** Pictures for people to look at; nobody compares them. */
export const pictures = process.env.CONSOLE_PICTURES;
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Findings of axe that stand in somebody's way. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  // Things that fade in have their colours at the end; what turns for ever has none.
  await page.evaluate(
    "Promise.allSettled(document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < 1e6).map((one) => one.finished))",
  );
  // A menu from which a dialog was opened takes its leave behind it.
  if ((await page.getByRole("dialog").count()) > 0)
    await page.locator('[role="menu"]').waitFor({ state: "detached" });
  const { violations } = (await page.evaluate("axe.run()")) as {
    violations: {
      id: string;
      impact: string;
      nodes: { html: string; failureSummary: string }[];
    }[];
  };
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

/** The page has complained about nothing; else the failure shows of what. */
export const expectNone = (complaints: readonly string[]): void =>
  expect(complaints.join("\n")).toBe("");

/**
 * Whether the browser itself logs it: refusals of the API, and requests that ended because a
 * network came or went, as each container does. The page asks for those again.
 */
const isOfBrowser = (text: string) =>
  /status of (401|404|409|412|422)|net::ERR_NETWORK_CHANGED/.test(text);

/** Everything that the page asked for has come. */
export const loaded = (page: Page) =>
  expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);

/** The text of a part that may only just be coming in: until it is seen, it has none. */
export const textOf = (part: Locator): Promise<string> =>
  vi.waitUntil(async () => (await part.innerText()).trim(), soon);

export async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined)
    await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

/** Ends what is moving, but for what moves for ever. Text, since it is the page's own code. */
export const settled = `Promise.allSettled(document.getAnimations()
  .filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
  .map((one) => one.finished))`;

/** Where a page is searched for barriers, which takes longest of all. */
const examined = choose<readonly (readonly [width: number, scheme: "light" | "dark"])[]>({
  quick: [[360, "dark"]],
  whole: [
    [360, "dark"],
    [1440, "light"],
  ],
});

/** Looks at a page as it is: wide and narrow, light and dark. Nothing is in anybody's way. */
export async function look(page: Page, name: string): Promise<void> {
  await loaded(page);
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: width === 360 ? 740 : 900 });
    // Nothing is wider than the screen, whatever the screen.
    const excess = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    expect(excess, `${name} at ${width}`).toBe(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await picture(page, `${name}-${width}-${colorScheme}`);
      // An element that comes or goes is neither here nor there: its colours are of the moment.
      await page.evaluate(settled);
      // Each width in one of both: together they see all that there is.
      if (examined.some(([at, scheme]) => at === width && scheme === colorScheme))
        expect(await barriers(page), `${name} at ${width}, ${colorScheme}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: "light" });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** A port that stays while the server behind it comes and goes. */
async function openDoor() {
  let target: number | undefined;
  const server = createTcpServer((socket) => {
    if (target === undefined) return void socket.destroy();
    const behind = connect(target, "127.0.0.1");
    socket.on("error", () => behind.destroy()).on("close", () => behind.destroy());
    behind.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo(port: number | undefined) {
      target = port;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

export type ConsoleInBrowser = Awaited<ReturnType<typeof startConsole>>;

/** The providers that its connectors ask, and what leads a connection to each of them. */
async function startProviders(url: string) {
  const authority = await sharedAuthority();
  const [mailer, social, webhook] = await Promise.all([
    startMailer({ authority, seed: 5, campaigns: 6, lists: 2, subscribersPerList: 40 }),
    startSocial({ authority, brands: 2, redirectUri: `${url}/connected` }),
    startWebhook({ authority }),
  ]);
  const providerOf = (host: string) =>
    host === mailer.hostname ? mailer : host.endsWith("zoho.com") ? social : webhook;
  const seams: NetworkSeams = {
    ca: authority.caPem,
    resolve: (host) => providerOf(host).seams.resolve(host),
    dial: (target) => providerOf(target.host).seams.dial(target),
  };
  const close = () => Promise.all([mailer, social, webhook].map((one) => one.close()));
  return { mailer, social, webhook, seams, close };
}

type Providers = Awaited<ReturnType<typeof startProviders>>;
type Api = Awaited<ReturnType<typeof startTestControl>>;

const startApi = ({ mailer, social, seams }: Providers, folder: string) =>
  startTestControl({
    jobs: "run",
    sandbox: "inline",
    seams,
    settings: {
      network: { approvedHosts: [mailer.hostname], allowNetworks: [] },
      warehouses: join(folder, "warehouses"),
      oauthApps: {
        conn_social: {
          clientId: social.clientId,
          clientSecret: social.clientSecret,
          redirectUris: [social.redirectUri],
        },
      },
    },
  });

/** A page of a browser of the test's own, and everything that it complained about. */
async function openPage(browser: Browser, options: Parameters<Browser["newContext"]>[0] = {}) {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    ignoreHTTPSErrors: true,
    ...options,
  });
  // Ends what hangs: how long a page takes is no failure on a busy machine.
  context.setDefaultTimeout(180_000);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" && !isOfBrowser(message.text())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Rows of a table in a DuckDB file that a destination of this name has written. */
async function countRows(warehouses: string, file: string, table: string): Promise<number> {
  const files = await readdir(warehouses, { recursive: true });
  const path = join(warehouses, files.find((name) => name.endsWith(`${file}.duckdb`)) ?? "");
  const database = await DuckDBInstance.create(path, { access_mode: "READ_ONLY" });
  const connection = await database.connect();
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`);
  connection.closeSync();
  database.closeSync();
  return Number(found.getRows()[0]?.[0]);
}

/** What tests do over the API, for pages to show. */
function createApiUser(api: Api, mailer: Providers["mailer"]) {
  /** The data of a request that must succeed. */
  const must = async (...[method, path, options]: Parameters<typeof api.call>) => {
    const answer = await api.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body.data;
  };
  return {
    must,
    /** A source, a destination and a pipeline of the mailer's, made over the API. */
    async makePipeline(of: string): Promise<{
      readonly source: string;
      readonly destination: string;
      readonly pipeline: string;
    }> {
      const base_url = `https://${mailer.hostname}/api`;
      const { credential_handle } = await must("POST", "/credentials/mailer/api-token", {
        body: { api_token: mailer.token, base_url, name: of },
      });
      const { source_id: source } = await must("POST", "/sources", {
        body: {
          name: of,
          connector_id: "conn_mailer_product_edm",
          credential_handle,
          configuration: { base_url },
        },
      });
      const { destination_id: destination } = await must("POST", "/destinations", {
        body: {
          name: `Warehouse of ${of}`,
          connector_id: "conn_duckdb",
          configuration: { file: of.toLowerCase() },
        },
      });
      const { pipeline_id: pipeline } = await must("POST", "/pipelines", {
        body: {
          name: `${of} to warehouse`,
          source_id: source,
          destination_id: destination,
          streams: [{ name: "campaigns" }, { name: "subscribers" }, { name: "tags" }],
        },
      });
      return { source, destination, pipeline };
    },
    /** Runs a pipeline to its good end. @returns the job's id */
    async sync(pipeline: string): Promise<string> {
      const { job } = await must("POST", `/pipelines/${pipeline}/sync`, { body: {} });
      await vi.waitUntil(
        async () => (await must("GET", `/jobs/${job.job_id}`)).status === "succeeded",
        soon,
      );
      return job.job_id;
    },
  };
}

/** @param executable the browser's */
export async function startConsole(executablePath: string) {
  const folder = await mkdtemp(join(tmpdir(), "console-"));
  const door = await openDoor();
  const { url } = door;
  const [, providers] = await Promise.all([buildConsole(folder), startProviders(url)]);
  const { mailer, social, webhook } = providers;
  const api = await startApi(providers, folder);
  let server: ReturnType<typeof createServer> | undefined;
  const start = async () => {
    server = createServer(api.control, { console: folder });
    await server.listen({ host: "127.0.0.1", port: 0 });
    door.leadTo((server.server.address() as AddressInfo).port);
  };
  const stop = async () => {
    door.leadTo(undefined);
    server?.server.closeAllConnections();
    await server?.close();
  };
  await start();
  const browser: Browser = await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      `--host-resolver-rules=MAP accounts.zoho.com 127.0.0.1:${social.tokenPort}`,
    ],
  });

  const open = (options?: Parameters<Browser["newContext"]>[0]) => openPage(browser, options);
  const link = async (userId: string = api.first.users.admin): Promise<string> => {
    const code = createLinkCode();
    await createSession(
      api.db,
      { userId, client: "cli", token: code, lifetimeMs: 900_000 },
      new Date(),
    );
    return `${url}/#/sign-in/${code}`;
  };
  return {
    ...createApiUser(api, mailer),
    api,
    mailer,
    social,
    webhook,
    url,
    folder,
    open,
    link,
    start,
    stop,
    /** A page of somebody who has signed in, at the address behind the #. */
    async signedIn(userId?: string) {
      const opened = await open();
      await opened.page.goto(await link(userId));
      await opened.page.getByRole("heading", { level: 1, name: "Home" }).waitFor();
      return opened;
    },
    /** Rows of a table in a DuckDB file that a destination of this name has written. */
    countRows: (file: string, table: string) => countRows(join(folder, "warehouses"), file, table),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await stop();
      await door.close();
      await api[Symbol.asyncDispose]();
      await providers.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
