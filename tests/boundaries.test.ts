import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));

/** What each unit may import across its border. Tests may also use fixtures and tests. */
const allowed: Record<string, RegExp> = {
  runtime: /^(?!svc-connectors)/,
  connectors: /^(svc-connectors(\/destination)?$|pg$|pg-copy-streams$|@duckdb\/node-api$|node:)/,
  conformance:
    /^(svc-connectors|svc-connectors\/host|node:.*|nock|undici|yaml|typebox|ajv|ajv\/dist\/2019\.js|ajv\/dist\/2020\.js|ajv-formats|@peculiar\/x509|testcontainers|vitest|@duckdb\/node-api)$/,
  control:
    /^(svc-connectors\/host|node:.*|typebox|ajv\/dist\/2020\.js|ajv-formats|fast-json-stringify|fastify|@fastify\/static|swagger-ui-dist.*|kysely|kysely\/migration|@electric-sql\/pglite|pg|pg-boss|pino|rate-limiter-flexible|nodemailer|cron-parser|@opentelemetry\/(api|sdk-metrics|sdk-trace|exporter-prometheus|exporter-trace-otlp-http)|@modelcontextprotocol\/server.*|undici|yaml)$/,
};

interface Import {
  readonly file: string;
  readonly specifier: string;
}

function importsOf(folder: string): Import[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
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

/** `runtime`, or `connectors/<name>`. */
const unitOf = (file: string) =>
  file
    .split("/")
    .slice(0, file.startsWith("connectors/") ? 2 : 1)
    .join("/");
const isTest = (file: string) => file.endsWith(".test.ts");

describe("import rules", () => {
  const imports = [
    ...importsOf("runtime"),
    ...importsOf("connectors"),
    ...importsOf("conformance"),
    ...importsOf("control"),
  ];

  test("there are imports to look at", () => expect(imports.length).toBeGreaterThan(50));

  test("a relative import never leaves its unit", () => {
    const leaving = imports.filter(({ file, specifier }) => {
      if (!specifier.startsWith(".")) return false;
      const target = relative(root, resolve(root, dirname(file), specifier))
        .split(sep)
        .join("/");
      const isFixture = isTest(file) && /^(fixtures|tests)\//.test(target);
      return unitOf(target) !== unitOf(file) && !isFixture;
    });
    expect(leaving).toEqual([]);
  });

  test("the runtime imports no connector and not itself by name; a connector imports the author API only", () => {
    const crossing = imports.filter(({ file, specifier }) => {
      if (specifier.startsWith(".") || isTest(file)) return false;
      return !allowed[file.split("/")[0] ?? ""]?.test(specifier);
    });
    expect(crossing).toEqual([]);
  });
});
