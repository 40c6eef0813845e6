/**
 * The operator's files are tried by their own checkers: systemd-analyze, promtool. What names a
 * metric names one that there is.
 */
import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type MetricName, metrics } from "../control/telemetry/metrics.ts";

const folder = fileURLToPath(new URL("../deploy/", import.meta.url));
const run = promisify(execFile);

const onPath = (program: string) =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((place) => join(place, program))
    .find((file) => existsSync(file));
/** Debian's package prometheus has it; `.ci/run` installs that. */
const promtool = onPath("promtool");
const systemd = onPath("systemd-analyze");

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "svc-deploy-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rulesFile = `${folder}prometheus/svc.rules.yaml`;
const rules = (parse(readFileSync(rulesFile, "utf8")).groups as { rules: Rule[] }[]).flatMap(
  (group) => group.rules,
);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboard = JSON.parse(readFileSync(`${folder}grafana/svc.json`, "utf8")) as {
  readonly panels: readonly Panel[];
};
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({ title, expr, legendFormat })),
);

/** The metrics of a query, each with the labels that it asks for. */
function metricsIn(expr: string) {
  return [...expr.matchAll(/\b(svc_\w+)(?:\{([^}]*)\})?/g)].map(([, name = "", selector = ""]) => ({
    name: name.replace(/_(count|sum|bucket)$/, (ending) => (name in metrics ? ending : "")),
    labels: [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
  }));
}

/** Faults of a query: metrics that there are not, and labels that they do not have. */
function faultsOf(expr: string, shown = ""): string[] {
  const found = metricsIn(expr);
  const labelsOf = (name: string) => metrics[name as MetricName]?.labels as readonly string[];
  const known = new Set([
    "le",
    ...found.filter(({ name }) => name in metrics).flatMap(({ name }) => labelsOf(name)),
  ]);
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = ""]) =>
    names.split(/\s*,\s*/),
  );
  const named = [...shown.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)/g)].map(([, label = ""]) => label);
  return [
    ...found.filter(({ name }) => !(name in metrics)).map(({ name }) => name),
    ...found.flatMap(({ name, labels }) =>
      labels.filter((label) => label !== "le" && !(labelsOf(name) ?? []).includes(label)),
    ),
    ...[...grouped, ...named].filter((label) => !known.has(label)),
  ];
}

test("a query of a metric or a label that there is not is found", () => {
  expect(faultsOf("sum(svc_job_total)")).toEqual(["svc_job_total"]);
  expect(faultsOf('svc_jobs_total{connector="x"}')).toEqual(["connector"]);
  expect(faultsOf("sum by (pipeline) (svc_jobs_total)")).toEqual(["pipeline"]);
  expect(faultsOf("svc_jobs_total", "{{ $labels.where }}")).toEqual(["where"]);
  expect(faultsOf("rate(svc_http_request_duration_seconds_count[5m])")).toEqual([]);
});

describe("alerts for Prometheus", () => {
  test.each(rules)("$alert asks for what there is", ({ alert, expr, annotations }) => {
    const texts = Object.values(annotations).join(" ").replaceAll("$value", "");
    if (alert === "SvcIsDown") expect(expr).toMatch(/^up\{/);
    else expect(faultsOf(expr, texts.replace(/\{\{\s*\|[^}]*\}\}/g, ""))).toEqual([]);
  });

  test("have a case each", () => {
    const cases = readFileSync(`${folder}prometheus/svc.rules.test.yaml`, "utf8");
    expect(rules.length).toBeGreaterThan(5);
    for (const { alert } of rules) expect(cases).toContain(`alertname: ${alert} }`);
  });

  test.skipIf(!promtool)(
    "pass promtool, with and without something to tell (else: no promtool)",
    async () => {
      const cwd = `${folder}prometheus`;
      const checked = await run(promtool ?? "", ["check", "rules", "svc.rules.yaml"], { cwd });
      expect(checked.stdout).toContain(`${rules.length} rules found`);
      await run(promtool ?? "", ["test", "rules", "svc.rules.test.yaml"], { cwd });
    },
  );
});

describe("the dashboard for Grafana", () => {
  test.each(queries)("$title: $expr asks for what there is", ({ expr, legendFormat }) => {
    expect(faultsOf(expr, legendFormat)).toEqual([]);
  });

  test("shows every metric", () => {
    const shown = queries.flatMap(({ expr }) => metricsIn(expr).map(({ name }) => name));
    expect(Object.keys(metrics).filter((name) => !shown.includes(name))).toEqual([]);
  });

  test.skipIf(!promtool)("asks in PromQL, as promtool reads it (else: no promtool)", async () => {
    const records = queries.map(({ expr }, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }));
    const file = join(scratch, "dashboard.rules.yaml");
    await writeFile(file, JSON.stringify({ groups: [{ name: "dashboard", rules: records }] }));
    const { stdout } = await run(promtool ?? "", ["check", "rules", file]);
    expect(stdout).toContain(`${queries.length} rules found`);
  });
});

describe("units of systemd", () => {
  const units = globSync("systemd/*.service", { cwd: folder });

  test("there are those of a server and of a worker", () => {
    expect(units.map((unit) => basename(unit)).toSorted()).toEqual([
      "svc-server.service",
      "svc-worker.service",
    ]);
  });

  test.skipIf(!systemd).each(units)(
    "%s passes systemd-analyze (else: no systemd)",
    async (unit) => {
      const copy = join(scratch, basename(unit));
      await cp(join(folder, unit), copy);
      const text = readFileSync(copy, "utf8");
      // The package is not installed here.
      const started = text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`);
      expect(started).not.toBe(text);
      await writeFile(copy, started);
      const { stdout, stderr } = await run(systemd ?? "", ["verify", copy]);
      expect(stdout + stderr).toBe("");
      await run(systemd ?? "", ["security", "--offline=true", "--threshold=50", copy]);
    },
  );
});
