import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it as test } from "vitest";
import { hostileReport, sampleReport } from "../../fixtures/report/sample.ts";
import { results } from "../contract/report.ts";
import { renderHtml } from "./html.ts";
import { renderJunit } from "./junit.ts";

const run = promisify(execFile);

/** The first browser that is installed. */
async function findChromium(): Promise<string | undefined> {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const answer = await run(name, ["--version"]).catch(() => undefined);
    if (answer !== undefined) return name;
  }
  return undefined;
}

const chromium = await findChromium();
let folder: string;
let fileCount = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "report-"));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

interface Opened {
  readonly document: string;
  /**
   * Messages of the browser's console: errors of scripts, refusals of the content security policy.
   */
  readonly console: readonly string[];
}

async function open(
  text: string,
  { hash = "", type = "html", flags = [] as readonly string[] } = {},
): Promise<Opened> {
  fileCount += 1;
  const file = join(folder, `${fileCount}.${type}`);
  await writeFile(file, text);
  const profile = join(folder, `profile-${fileCount}`);
  const fixed = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-logging=stderr",
    `--user-data-dir=${profile}`,
  ];
  const answer = await run(
    chromium ?? "",
    [...fixed, ...flags, "--dump-dom", `file://${file}${hash}`],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return {
    document: answer.stdout,
    console: answer.stderr.split("\n").filter((line) => line.includes(":CONSOLE")),
  };
}

/**
 * Evaluates an expression about `page`, the document shown in a frame 360 px wide. Windows cannot
 * be that narrow.
 */
async function measured(
  page: string,
  { sandbox, measure }: { sandbox: string; measure: string },
): Promise<unknown> {
  const srcdoc = page.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const { document } =
    await open(`<!doctype html><style>iframe { border: 0; width: 360px; height: 800px; }</style>
    <script>const show = (page) => { document.title = encodeURIComponent(JSON.stringify(${measure})); };</script>
    <iframe sandbox="${sandbox}" onload="show(this.contentDocument)" srcdoc="${srcdoc}"></iframe>`);
  return JSON.parse(decodeURIComponent(/<title>(.*?)<\/title>/.exec(document)?.[1] ?? "null"));
}

const it = (name: string, work: () => Promise<void>) =>
  test(name, async ({ skip }) => {
    if (chromium === undefined) return skip("Chromium is not installed.");
    await work();
  });

/** Ids of the rules that are shown. */
function shownRules(document: string): string[] {
  return [...document.matchAll(/<article [^>]*>/g)]
    .filter(([tag]) => !/ hidden=/.test(tag))
    .map(([tag]) => / id="([^"]*)"/.exec(tag)?.[1] ?? "");
}

/** The page with a script of the test's own at its end, which its policy would refuse. */
function withScript(page: string, script: string): string {
  return page
    .replace(/<meta http-equiv[^>]*>/, "")
    .replace("</body>", `<script>${script}</script></body>`);
}

describe("the HTML report in a browser", () => {
  it("opens without an error, with the filter shown and every rule", async () => {
    const { document, console } = await open(renderHtml(sampleReport()));
    expect(console).toEqual([]);
    expect(document).toMatch(/<form id="filter">/);
    expect(shownRules(document)).toHaveLength(40);
  });

  it("shows the rules of one result", async () => {
    const { document, console } = await open(renderHtml(sampleReport()), { hash: "#result=fail" });
    expect(console).toEqual([]);
    expect(shownRules(document)).toEqual(["ERROR-05", "LEAK-01"]);
    expect(document).toContain("2 of 40 rules shown");
  });

  it("finds text in rules and in evidence, and opens what passed where it is found", async () => {
    const { document } = await open(renderHtml(sampleReport()), { hash: "#text=page-0" });
    expect(shownRules(document)).toEqual(["PAGE-04", "PAGE-01"]);
    expect(document).toMatch(/<details id="passed"[^>]* open=/);
    const inEvidence = await open(renderHtml(sampleReport()), { hash: "#text=internal%20SERVER" });
    expect(shownRules(inEvidence.document)).toEqual(["ERROR-05"]);
  });

  it("opens what passed where the address leads to a rule in it", async () => {
    const { document } = await open(renderHtml(sampleReport()), { hash: "#LEAK-02" });
    expect(shownRules(document)).toHaveLength(40);
    expect(document).toMatch(/<details id="passed"[^>]* open=/);
  });

  it("filters by what is typed and clicked, and keeps it in the address", async () => {
    const script = `
      document.querySelector('[value="warn"]').click();
      const search = document.querySelector('[type="search"]');
      search.value = 'schema';
      search.dispatchEvent(new Event('input', { bubbles: true }));
      document.body.dataset.hash = location.hash;`;
    const { document } = await open(withScript(renderHtml(sampleReport()), script));
    expect(shownRules(document)).toEqual(["SCHEMA-03"]);
    expect(document).toContain('data-hash="#result=warn&amp;text=schema"');
  });

  it("shows the rules of the group that is clicked", async () => {
    const script = `document.querySelector('.groups a[href="#text=LEAK-"]').click();`;
    const { document } = await open(withScript(renderHtml(sampleReport()), script));
    expect(shownRules(document)).toEqual(["LEAK-01", "LEAK-02"]);
  });

  it("shows everything but the filter without JavaScript", async () => {
    const measure = `({
      shown: [...page.querySelectorAll('.rule')].filter((rule) => rule.checkVisibility()).map((rule) => rule.id),
      hasFilter: page.querySelector('#filter').checkVisibility(),
    })`;
    const closed = await measured(renderHtml(sampleReport()), {
      sandbox: "allow-same-origin",
      measure,
    });
    expect(closed).toMatchObject({ hasFilter: false });
    const opened = renderHtml(sampleReport()).replaceAll("<details", "<details open");
    expect(await measured(opened, { sandbox: "allow-same-origin", measure })).toMatchObject({
      shown: expect.objectContaining({ length: 40 }),
    });
  });

  it("runs nothing of hostile evidence and asks for nothing", async () => {
    const { document, console } = await open(renderHtml(hostileReport()));
    expect(console).toEqual([]);
    expect(document).not.toMatch(/<img|<svg (?!class="bar")|<title>owned/);
    expect(shownRules(document)).toHaveLength(results.length);
  });

  it("is stopped by its policy if hostile text were not escaped", async () => {
    const page = renderHtml(sampleReport()).replace(
      "<h1>",
      `<h1><img src=x onerror="document.title='owned'">`,
    );
    const { document, console } = await open(page);
    expect(document).not.toContain("<title>owned");
    expect(console.join("\n")).toContain("Content Security Policy");
  });

  for (const [name, report] of [
    ["sample", sampleReport()],
    ["hostile", hostileReport()],
  ] as const)
    it(`does not scroll sideways on a phone, all opened (${name})`, async () => {
      const page = renderHtml(report).replaceAll("<details", "<details open");
      const measure = `({
        width: page.defaultView.innerWidth,
        hidden: page.documentElement.scrollWidth - page.documentElement.clientWidth,
      })`;
      expect(await measured(page, { sandbox: "allow-same-origin allow-scripts", measure })).toEqual(
        {
          width: 360,
          hidden: 0,
        },
      );
    });
});

describe("the JUnit report in a browser", () => {
  it("is XML that a strict parser takes", async () => {
    const good = await open(renderJunit(hostileReport()), { type: "xml" });
    expect(good.document).not.toContain("parsererror");
    const broken = await open(renderJunit(hostileReport()).replace("&lt;", "<"), { type: "xml" });
    expect(broken.document).toContain("parsererror");
  });
});
