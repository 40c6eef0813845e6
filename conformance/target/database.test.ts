import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { certify } from "../certify/certify.ts";
import { loadRules } from "../certify/load-rules.ts";
import { openLab } from "../lab/open-lab.ts";
import { createConnectorTarget } from "./connector.ts";
import { databaseKindOf, seedFileName, startDatabase } from "./database.ts";
import { databaseConfig, databaseLogin } from "./database-config.ts";
import { defaultSettings } from "./settings.ts";

const url = new URL("../../fixtures/broken-postgres/reader-as-it-should-be.ts", import.meta.url)
  .href;
const openTarget = () =>
  createConnectorTarget({ connector: { name: "reader", url }, kind: "module", settings: {} });

test("without a database what needs none is tried, and every other rule says what to install", async () => {
  await using target = openTarget();
  expect(await databaseKindOf(target)).toBe("postgres");
  const missing = "a database is needed: install PostgreSQL";
  const lab = await openLab({
    target,
    settings: defaultSettings,
    fixtures: { recordings: [] },
    seed: 1,
    isExhaustive: false,
    todayMs: Date.parse("2026-07-01T00:00:00Z"),
    database: { missing },
  });
  const { rules } = await certify({
    lab,
    rules: await loadRules(),
    profiles: ["core"],
    waivers: [],
    kitVersion: "0.0.0",
    command: "svc conformance reader",
    startedAt: "2026-07-01T00:00:00Z",
  });
  const resultOf = (wanted: string) => rules.find(({ id }) => id === wanted);
  expect([resultOf("SPEC-02")?.result, resultOf("CHECK-02")?.result]).toEqual(["pass", "pass"]);
  for (const id of ["CHECK-01", "DISC-04", "READ-04", "STATE-01", "LIMIT-01", "NET-04", "LEAK-01"])
    expect([id, resultOf(id)?.result, resultOf(id)?.reason]).toEqual([
      id,
      "not-applicable",
      missing,
    ]);
});

test("a seed that is not there is reported before a server is started", async () => {
  const nowhere = fileURLToPath(new URL(`./nowhere/${seedFileName}`, import.meta.url));
  await expect(startDatabase("postgres", nowhere)).rejects.toThrow(/there is no database seed/);
});

test("what leads to the database is filled in where the author does not say otherwise, nested settings too", () => {
  const egress = {
    kind: "postgres",
    host: "at.host",
    port: "at.port",
    database: "name",
    username: "role",
    password: "password",
    sslMode: "ssl",
  } as const;
  const config = databaseConfig(egress, { name: "shop", password: "secret" });
  expect(config).toEqual({
    at: { host: "database.example.net", port: 5432 },
    name: "shop",
    role: "svc_reader",
    password: "secret",
  });
  expect(databaseConfig({ ...egress, kind: "mysql" }, {})).toMatchObject({ at: { port: 3306 } });
  expect(databaseLogin(egress, config)).toEqual({
    database: "shop",
    role: "svc_reader",
    password: "secret",
  });
});
