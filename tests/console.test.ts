/** Tests of the console that need no browser. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { compareClock } from "../console/api/clock.ts";
import { renderPaths } from "../console/api/paths.ts";
import { lineParts, listParts, wordsOf } from "../console/model/differences.ts";
import { faultsOf, fieldsOf, initialValues } from "../console/model/spec.ts";
import { inMode, modesOf } from "../console/model/streams.ts";
import { ago, bytes, dailyTime, lasted, scheduleWords } from "../console/model/words.ts";
import { renderConsoleTypes } from "../docs/console-types.ts";

describe("types of the API for the console", () => {
  test("are those of the API; `npm run docs` rewrites them", async () => {
    const file = new URL("../console/api/schema.ts", import.meta.url);
    expect(await readFile(file, "utf8")).toBe(renderConsoleTypes());
  });

  test("are not made of what the generator does not understand", () => {
    const document = (schema: object) => ({
      paths: {},
      components: { schemas: { One: schema as Record<string, unknown> } },
    });
    expect(() => renderPaths(document({ type: "tuple" }))).toThrow("tuple");
    expect(renderPaths(document({ anyOf: [{ type: "integer" }, { type: "null" }] }))).toContain(
      "One: number | null;",
    );
  });
});

describe("the form of a spec", () => {
  const spec = {
    type: "object",
    required: ["host", "password"],
    properties: {
      mode: { type: "string", enum: ["a", "b"], default: "a" },
      host: { type: "string", pattern: "^[a-z]+$", examples: ["db"] },
      password: { type: "string", writeOnly: true, default: "never" },
      port: { type: "integer", minimum: 1, maximum: 9 },
    },
    if: { type: "object", properties: { mode: { const: "b" } }, required: ["mode"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: "object", properties: { host: { type: "string", pattern: "^cloud" } } },
  };

  test("has what is required first, and gives no secret a value", () => {
    const fields = fieldsOf(spec);
    expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "host text",
      "password text",
      "mode choice",
      "port number",
    ]);
    expect(initialValues(fields)).toEqual({ mode: "a" });
  });

  test("says at each field what is wrong with it", () => {
    expect(faultsOf(spec, {})).toEqual({ host: "Fill this in.", password: "Fill this in." });
    expect(faultsOf(spec, { host: "" }, ["password"])).toEqual({ host: "Fill this in." });
    expect(faultsOf(spec, { host: "db", password: "x", port: 4 })).toEqual({});
    expect(Object.keys(faultsOf(spec, { host: "DB", password: "x", port: 44 }))).toEqual([
      "host",
      "port",
    ]);
    const conditional = faultsOf(spec, { mode: "b", host: "db", password: "x" });
    expect(Object.keys(conditional)).toEqual(["host"]);
  });
});

describe("the modes of a stream", () => {
  const stream = {
    name: "orders",
    namespace: null,
    json_schema: { properties: { id: {}, at: {} } },
    supported_sync_modes: ["full_refresh", "incremental"] as ("full_refresh" | "incremental")[],
    source_defined_cursor: false,
    default_cursor_field: [],
    proposed_cursors: [{ field: "at", finds: "changes" as const, is_indexed: true }],
    source_defined_primary_key: [],
    selected: true,
    suggested: true,
  };

  test("one row a key needs a key; reading what changed brings the proposed cursor", () => {
    const selection = { name: "orders" };
    expect(modesOf(stream, selection)).not.toContain("incremental append_dedup");
    expect(modesOf(stream, { ...selection, primary_key: [["id"]] })).toContain(
      "incremental append_dedup",
    );
    expect(inMode(stream, selection, "incremental append")).toMatchObject({
      sync_mode: "incremental",
      cursor_field: ["at"],
    });
  });
});

test("times, sizes and schedules are said as one says them", () => {
  const nowMs = Date.parse("2026-05-01T12:00:00Z");
  expect(ago("2026-05-01T11:57:00Z", nowMs)).toBe("3 minutes ago");
  expect(ago("2026-05-01T14:00:00Z", nowMs)).toBe("in 2 hours");
  expect(ago("2026-05-01T12:00:03Z", nowMs)).toBe("just now");
  // Another server's clock is ahead: what has happened is not to come.
  expect(ago("2026-05-01T12:03:00Z", nowMs, true)).toBe("just now");
  expect(lasted("2026-05-01T11:00:00Z", null, nowMs)).toBe("1 h 0 min");
  expect([bytes(12), bytes(44_200), bytes(1_500_000_000)]).toEqual(["12 B", "44.2 kB", "1.5 GB"]);
  expect(scheduleWords({ type: "basic", units: 1, time_unit: "hours" })).toBe("Every hour");
  expect(
    scheduleWords({ type: "cron", cron_expression: "5 6 * * *", cron_timezone: "Europe/Berlin" }),
  ).toBe("Each day at 06:05, Europe/Berlin");
  expect(dailyTime("0 6 * * 1-5")).toBeUndefined();
});

test("a clock of a browser that is wrong changes no time that is said", () => {
  const nowMs = Date.now();
  const at = new Date(nowMs - 180_000).toISOString();
  try {
    for (const wrongMs of [-7_200_000, 7_200_000]) {
      compareClock(new Date(nowMs - wrongMs).toUTCString(), nowMs);
      const said = new Date(Date.parse(at) - wrongMs).toISOString();
      expect(ago(said), String(wrongMs)).toBe("3 minutes ago");
    }
    compareClock(null);
    compareClock(new Date(nowMs + 2_000).toUTCString(), nowMs);
    expect(ago(at)).toBe("3 minutes ago");
  } finally {
    compareClock(new Date().toUTCString());
  }
});

describe("what differs", () => {
  const told = (before: string, after: string) =>
    lineParts(before, after).map(
      ({ kind, text }) => `${{ same: " ", gone: "-", new: "+" }[kind]}${text}`,
    );

  test("of two texts is told line by line, and most lines stay", () => {
    expect(told("SELECT a\nFROM t\nWHERE x", "SELECT a, b\nFROM t\nWHERE x\nLIMIT 1")).toEqual([
      "-SELECT a",
      "+SELECT a, b",
      " FROM t",
      " WHERE x",
      "+LIMIT 1",
    ]);
    expect(told("", "a")).toEqual(["-", "+a"]);
    const long = "x\n".repeat(500);
    expect(lineParts(long, `${long}y`)).toHaveLength(2);
  });

  test("of two lists is what goes and what comes", () => {
    expect(wordsOf([["a", "b"], "c", 3])).toEqual(["a.b", "c", "3"]);
    expect(wordsOf([{ a: 1 }])).toBeUndefined();
    expect(listParts(["a", "b", "c"], ["b", "c", "d"])).toEqual({
      gone: ["a"],
      come: ["d"],
      stay: 2,
    });
  });
});

test("secrets within an object are fields of their own, by their paths; the rest of it is one", () => {
  const spec = {
    required: ["credentials"],
    properties: {
      credentials: {
        title: "Authentication",
        oneOf: [
          {
            required: ["kind", "client_secret"],
            properties: {
              kind: { const: "oauth2.0" },
              client_secret: { type: "string", title: "Client secret", writeOnly: true },
            },
          },
          { properties: { kind: { const: "token" }, token: { type: "string", writeOnly: true } } },
        ],
      },
      login: {
        ...{ type: "object", required: ["password"] },
        properties: { password: { type: "string", writeOnly: true } },
      },
    },
  };
  const fields = fieldsOf(spec);
  expect(
    fields.map(({ name, title, isRequired, isSecret, kind }) => [
      name,
      title,
      isRequired,
      isSecret,
      kind,
    ]),
  ).toEqual([
    ["credentials", "Authentication", true, false, "json"],
    ["credentials.client_secret", "Authentication: Client secret", false, true, "text"],
    ["credentials.token", "Authentication: token", false, true, "text"],
    ["login", "login", false, false, "json"],
    ["login.password", "login: password", false, true, "text"],
  ]);
  const values = initialValues(fields);
  expect(values).toEqual({ credentials: { kind: "oauth2.0" } });
  expect(faultsOf(spec, values)).toEqual({});
  expect(faultsOf(spec, {})).toEqual({ credentials: "Fill this in." });
});
