import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/**
 * The modules that each unit may import across its border. Tests may also use fixtures, simulators
 * and tests.
 */
const allowed: Record<string, RegExp> = {
  runtime: /^(?!svc-connectors)/,
  connectors:
    /^(svc-connectors(\/(database|destination))?$|pg$|pg-copy-streams$|apache-arrow$|@duckdb\/node-(api|bindings)$|node:)/,
  conformance:
    /^(svc-connectors|svc-connectors\/host|node:.*|nock|undici|yaml|typebox|ajv|ajv\/dist\/2019\.js|ajv\/dist\/2020\.js|ajv-formats|@peculiar\/x509|testcontainers|vitest|@duckdb\/node-api)$/,
  control:
    /^(svc-connectors\/host|node:.*|typebox|ajv\/dist\/2020\.js|ajv-formats|fast-json-stringify|fastify|@fastify\/static|kysely|kysely\/migration|@electric-sql\/pglite|pg|pino|rate-limiter-flexible|nodemailer|cron-parser|@opentelemetry\/(api|sdk-metrics|sdk-trace|exporter-prometheus|exporter-trace-otlp-http)|@modelcontextprotocol\/server.*|undici|yaml)$/,
  // A client of the API, in a browser: nothing of Node, and of the other units nothing at all.
  console:
    /^(react|react-dom\/client|wouter|wouter\/use-hash-location|@mantine\/(core|hooks|notifications)(\/styles\.css)?|@tanstack\/react-(query|virtual)|openapi-fetch|openapi-typescript-helpers|@cfworker\/json-schema|\.)/,
};

interface Import {
  readonly file: string;
  readonly specifier: string;
}

function importsOf(folder: string): Import[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => {
      const file = `${folder}/${name}`;
      const source = readFileSync(root + file, "utf8");
      return [
        ...source.matchAll(
          /(?:^|\n)(?:import|(?:import|export)\b[^;'"=]*?\bfrom)\s*["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/g,
        ),
      ].map((match) => ({
        file,
        specifier: match[1] ?? match[2] ?? "",
      }));
    });
}

/** `runtime`, or `connectors/<kind>/<name>`. */
const unitOf = (file: string) =>
  file
    .split("/")
    .slice(0, file.startsWith("connectors/") ? 3 : 1)
    .join("/");
/** The only units that share code of another one: files hold rows as tables of DuckDB do. */
const shared: Record<string, RegExp> = {
  "connectors/destinations/files": /^connectors\/destinations\/duckdb\/[a-z-]+\.ts$/,
  "connectors/destinations/s3": /^connectors\/destinations\/files\/[a-z-]+\.ts$/,
};
const isTest = (file: string) => file.endsWith(".test.ts");
/** How a unit is built; nothing of it ends up in the unit. */
const isBuild = (file: string) => file === "console/vite.config.ts";

/**
 * The layers inside a unit: what the files of a folder may import of their own unit besides their
 * own folder. A folder that is not named may be imported by nobody below it; "" stands for the
 * files beside the folders, which are entries.
 */
const layers: Record<string, Record<string, readonly string[]>> = {
  runtime: {
    contract: [],
    wire: ["contract"],
    // Code that authors of databases share; in the sandbox too.
    database: ["contract"],
    // The untrusted side: what runs in the sandbox.
    worker: ["manifest", "protocol", "wire", "contract"],
    manifest: ["wire", "contract"],
    protocol: ["wire", "contract"],
    // The trusted side.
    batches: ["wire", "contract"],
    filter: ["batches", "wire", "contract"],
    spec: ["filter", "wire", "contract"],
    egress: ["filter", "spec", "wire", "contract"],
    oauth: ["egress", "filter", "spec", "contract"],
    image: ["egress", "spec", "wire", "contract"],
    host: ["image", "egress", "batches", "filter", "spec", "wire", "contract"],
    destination: ["host", "egress", "batches", "filter", "spec", "wire", "contract"],
    sinks: ["destination", "host", "contract"],
    cli: ["sinks", "destination", "host", "image", "egress", "spec", "wire", "contract"],
  },
  conformance: {
    contract: [],
    // Recordings, what is learned from them, and what stands in for the provider.
    fixtures: ["contract"],
    replay: ["contract"],
    learn: ["replay", "contract"],
    faults: ["replay", "contract"],
    // The subjects: sources here, destinations below.
    target: ["fixtures", "contract"],
    derive: ["target", "learn", "replay", "fixtures", "contract"],
    report: ["contract"],
    certify: ["report", "contract"],
    rules: ["recorder", "certify", "derive", "target", "learn", "replay", "fixtures", "contract"],
    lab: ["certify", "derive", "target", "faults", "learn", "replay", "fixtures", "contract"],
    destination: ["certify", "derive", "target", "faults", "fixtures", "contract"],
    recorder: ["lab", "target", "replay", "fixtures", "contract"],
    new: [],
  },
  control: {
    store: [],
    contract: ["store"],
    services: ["contract", "store"],
    vault: ["store"],
    mail: ["services"],
    telemetry: ["services", "contract", "store"],
    // The way of every request. Approvals are its other half: it makes proposals, they carry them
    // out.
    door: ["approvals", "telemetry", "services", "contract", "store"],
    approvals: ["door", "vault", "services", "contract", "store"],
    // The areas that operations work with: none knows an operation, a route or a tool.
    audit: ["door", "contract", "store"],
    events: ["members", "mail", "door", "vault", "services", "contract", "store"],
    retention: ["audit", "door", "services", "store"],
    members: ["door", "mail", "contract", "store"],
    connectors: ["door", "contract", "store"],
    credentials: ["connectors", "door", "vault", "services", "contract", "store"],
    oauth: ["sources", "credentials", "connectors", "vault", "services", "contract", "store"],
    sources: ["credentials", "connectors", "door", "contract", "store"],
    destinations: ["sources", "credentials", "connectors", "contract", "store"],
    mailer: ["sources", "credentials", "connectors", "contract"],
    pipelines: ["destinations", "sources", "credentials", "connectors", "contract", "store"],
    // A job runs what these two areas want; reverse ETL makes jobs of its own.
    "reverse-etl": [
      "jobs",
      "pipelines",
      "destinations",
      "sources",
      "credentials",
      "connectors",
      "vault",
      "telemetry",
      "services",
      "contract",
      "store",
    ],
    jobs: [
      "events",
      "reverse-etl",
      "pipelines",
      "destinations",
      "sources",
      "credentials",
      "connectors",
      "vault",
      "telemetry",
      "services",
      "contract",
      "store",
    ],
    operations: [
      "jobs",
      "reverse-etl",
      "pipelines",
      "mailer",
      "destinations",
      "sources",
      "oauth",
      "credentials",
      "connectors",
      "members",
      "events",
      "audit",
      "approvals",
      "door",
      "vault",
      "services",
      "contract",
      "store",
    ],
    // The document names every area's words.
    openapi: [
      "reverse-etl",
      "pipelines",
      "jobs",
      "credentials",
      "connectors",
      "members",
      "events",
      "door",
      "contract",
      "store",
    ],
    // Those who ask: agents, HTTP, and the operator's commands.
    mcp: ["door", "contract"],
    // A client of the API: of the areas it takes the forms of requests only.
    "workspace-file": ["reverse-etl", "pipelines", "events", "contract"],
    http: ["openapi", "mcp", "members", "events", "door", "telemetry", "services", "contract"],
    operator: ["operations", "jobs", "audit", "door", "services", "contract", "store"],
    commands: [
      "operator",
      "operations",
      "http",
      "mcp",
      "workspace-file",
      "members",
      "jobs",
      "connectors",
      "audit",
      "door",
      "vault",
      "services",
      "contract",
      "store",
    ],
  },
  console: {
    // The API as it is seen here; what is known of its things; what pages share; pages.
    api: [],
    model: ["api"],
    parts: ["model", "api"],
    pages: ["parts", "model", "api"],
  },
};
/** The only doors in walls that stand otherwise. */
const exceptions: Record<string, RegExp> = {
  // An author's debugger runs the worker's code in this process.
  "runtime/host/inline.ts": /^runtime\/worker\/serve\.ts$/,
  // One list of everything that a server has: it names the types of all of it.
  "control/services/services.ts": /^control\/(connectors|mail|store|telemetry|vault)\//,
  "control/contract/operation.ts": /^control\/services\/services\.ts$/,
  "control/contract/job.ts": /^control\/services\/services\.ts$/,
  // A command opens an instance.
  "control/commands/instance.ts": /^control\/create-control\.ts$/,
};

describe("layers", () => {
  const layerOf = (file: string) => (file.split("/").length > 2 ? (file.split("/")[1] ?? "") : "");
  for (const [unit, allowedLayers] of Object.entries(layers)) {
    const folders = readdirSync(root + unit, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );

    test(`every folder of ${unit} is a layer`, () => {
      expect(folders.sort()).toEqual(Object.keys(allowedLayers).sort());
    });

    test.each(folders)(`${unit}/%s imports its own layers only`, (folder) => {
      const crossing = importsOf(`${unit}/${folder}`).filter(({ file, specifier }) => {
        if (isTest(file) || !specifier.startsWith(".")) return false;
        const target = relative(root, resolve(root, dirname(file), specifier))
          .split(sep)
          .join("/");
        if (exceptions[file]?.test(target)) return false;
        return layerOf(target) !== folder && !allowedLayers[folder]?.includes(layerOf(target));
      });
      expect(crossing).toEqual([]);
    });
  }
});

test("no entry of the host imports the untrusted side", () => {
  const ofSandbox = /^runtime\/(?:worker|manifest|protocol|database)\//;
  const entries = readdirSync(`${root}runtime`).filter((name) => name.endsWith(".ts"));
  expect(entries).toContain("host.ts");
  const crossing = entries
    .filter((name) => !/^(?:author|database-author)\.ts$/.test(name))
    .flatMap((name) => {
      const source = readFileSync(`${root}runtime/${name}`, "utf8");
      return [...source.matchAll(/(?:\bfrom|\bimport\(?)\s*["'](\.[^"']+)["']/g)]
        .map(([, specifier = ""]) => `runtime/${specifier.slice(2)}`)
        .filter((target) => ofSandbox.test(target) && !typesOnly(source, target));
    });
  expect(crossing).toEqual([]);
});

/** What is erased runs nowhere. */
const typesOnly = (source: string, target: string) =>
  new RegExp(
    `(?:import|export) type [^;]*["']\\./${target.slice("runtime/".length).replaceAll(".", "\\.")}["']`,
  ).test(source);

describe("import rules", () => {
  const imports = [
    ...importsOf("runtime"),
    ...importsOf("connectors"),
    ...importsOf("conformance"),
    ...importsOf("control"),
    ...importsOf("console"),
  ];

  test("there are imports to look at", () => expect(imports.length).toBeGreaterThan(50));

  test("a relative import never leaves its unit", () => {
    const leaving = imports.filter(({ file, specifier }) => {
      if (!specifier.startsWith(".")) return false;
      const target = relative(root, resolve(root, dirname(file), specifier))
        .split(sep)
        .join("/");
      const isFixture = isTest(file) && /^(fixtures|simulators|tests)\//.test(target);
      const isShared = shared[unitOf(file)]?.test(target);
      return unitOf(target) !== unitOf(file) && !isFixture && !isShared;
    });
    expect(leaving).toEqual([]);
  });

  test("the runtime imports no connector and not itself by name; a connector imports the author API only", () => {
    const crossing = imports.filter(({ file, specifier }) => {
      if (specifier.startsWith(".") || isTest(file) || isBuild(file)) return false;
      return !allowed[file.split("/")[0] ?? ""]?.test(specifier);
    });
    expect(crossing).toEqual([]);
  });
});
