/** Tests of the console that need no browser. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { compareClock } from "../console/api/clock.ts";
import { renderPaths } from "../console/api/paths.ts";
import { Problem } from "../console/api/problem.ts";
import { lineParts, listParts, wordsOf } from "../console/model/differences.ts";
import { toCondition } from "../console/model/row-filter.ts";
import { allFields, type Field, fieldsOf } from "../console/model/spec.ts";
import { faultsOf } from "../console/model/spec-faults.ts";
import {
  changeOf,
  formAt,
  inForm,
  initialValues,
  secretsOf,
  settingsOf,
  valueAt,
  withValue,
} from "../console/model/spec-values.ts";
import {
  allInMode,
  cursorLimits,
  inMode,
  keptOf,
  keyOf,
  modesOf,
  newsOf,
  type Prepared,
  placeOf,
  type Selections,
} from "../console/model/streams.ts";
import { ago, bytes, dailyTime, lasted, scheduleWords } from "../console/model/words.ts";
import { renderConsoleActions, renderConsoleTypes } from "../docs/console-types.ts";

describe("types of the API for the console", () => {
  test("are those of the API; `npm run docs` rewrites them", async () => {
    const file = new URL("../console/api/schema.ts", import.meta.url);
    expect(await readFile(file, "utf8")).toBe(renderConsoleTypes());
    const actions = new URL("../console/api/actions.ts", import.meta.url);
    expect(await readFile(actions, "utf8")).toBe(renderConsoleActions());
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
      "port number",
      "mode choice",
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
    proposed_cursors: [
      { field: "at", finds: "changes" as const, is_indexed: true, is_nullable: false },
    ],
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

  test("a cursor says what it does not find, and what it costs", () => {
    const limited = {
      field: "n",
      finds: "new_rows" as const,
      is_indexed: false,
      is_nullable: true,
    };
    const proposed = { ...stream, proposed_cursors: [...stream.proposed_cursors, limited] };
    expect(cursorLimits(proposed, "at")).toEqual([]);
    expect(cursorLimits(proposed, "n")).toEqual([
      expect.stringContaining("new rows"),
      expect.stringContaining("no index"),
      expect.stringContaining("no value"),
    ]);
  });
});

describe("many streams at once", () => {
  const stream = (name: string, more: object = {}) => ({
    name,
    namespace: null,
    json_schema: { properties: { id: { type: "integer" }, at: { type: ["string", "null"] } } },
    supported_sync_modes: ["full_refresh", "incremental"] as ("full_refresh" | "incremental")[],
    source_defined_cursor: false,
    default_cursor_field: [],
    proposed_cursors: [
      { field: "at", finds: "changes" as const, is_indexed: true, is_nullable: false },
    ],
    source_defined_primary_key: [["id"]],
    selected: true,
    suggested: true,
    ...more,
  });
  const prepared = (streams: Prepared["streams"]): Prepared => ({
    prepareId: "x",
    streams,
    suggested: new Map(),
    namespaceDefinition: "destination",
    warnings: [],
  });
  const of = (...names: string[]) => new Map(names.map((name) => [keyOf({ name }), { name }]));

  test("are set to a mode that they can have; others stay, and so do those that are not chosen", () => {
    const streams = [
      stream("a"),
      stream("b", { source_defined_primary_key: [] }),
      stream("c", { supported_sync_modes: ["full_refresh"] }),
      stream("d"),
    ];
    const { selections, left } = allInMode(
      streams,
      of("a", "b", "c"),
      "incremental append_dedup",
      prepared(streams),
    );
    expect(left).toBe(2);
    expect([...selections.values()]).toMatchObject([
      { name: "a", sync_mode: "incremental", cursor_field: ["at"] },
      { name: "b" },
      { name: "c" },
    ]);
    expect(selections.size).toBe(3);
    const proposed = allInMode(streams, selections, "proposed", prepared(streams)).selections;
    expect([...proposed.values()].map((one) => one.sync_mode)).toEqual(
      Array(3).fill("full_refresh"),
    );
  });

  test("that came since the source was asked before are told, and a choice stays as far as it can", () => {
    const before = prepared([stream("a"), stream("b"), stream("gone")]);
    const after = prepared([
      stream("a"),
      stream("b", { json_schema: { properties: { id: {} } } }),
      stream("new"),
    ]);
    const { come, gone, changed } = newsOf(before, after);
    expect([come, gone, changed].map((some) => some.map(({ name }) => name))).toEqual([
      ["new"],
      ["gone"],
      ["b"],
    ]);
    const chosen: Selections = new Map([
      ...of("a", "gone"),
      ...new Map([[keyOf({ name: "b" }), { name: "b", selected_fields: ["id", "at"] }]]),
    ]);
    expect([...keptOf(chosen, after).values()]).toEqual([
      { name: "a" },
      { name: "b", selected_fields: ["id"] },
    ]);
  });

  test("conditions on rows have values of their column's type; faults are named by their stream", () => {
    const one = stream("a");
    expect(toCondition(one, "id", ">", "12")).toEqual({ column: "id", operator: ">", value: 12 });
    expect(toCondition(one, "at", "in", "1, b")).toMatchObject({ value: ["1", "b"] });
    expect(toCondition(one, "at", "is null", "x")).toEqual({ column: "at", operator: "is null" });
    expect(placeOf("streams.1.row_filter.0", [{ name: "a" }, { name: "b" }])).toBe(
      "b: row_filter.0",
    );
    expect(placeOf("schedule", [])).toBe("schedule");
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

const fieldAt = (fields: readonly Field[], name: string): Field => {
  const found = allFields(fields).find((one) => one.name === name);
  if (!found) throw new Error(`There is no field ${name}.`);
  return found;
};

describe("settings within settings", () => {
  const text = { type: "string" };
  const secret = { type: "string", writeOnly: true };

  test("of an object with several forms are those of the chosen one; nothing of another one stays", () => {
    const spec = {
      required: ["credentials"],
      properties: {
        credentials: {
          title: "Authentication",
          oneOf: [
            {
              title: "Account",
              required: ["kind", "client_secret"],
              properties: {
                kind: { const: "oauth2.0" },
                client_id: text,
                client_secret: { ...secret, title: "Client secret" },
              },
            },
            { properties: { kind: { enum: ["token"] }, token: secret } },
          ],
        },
      },
    };
    const fields = fieldsOf(spec);
    const field = fieldAt(fields, "credentials");
    expect(field).toMatchObject({ kind: "forms", title: "Authentication", isMain: true });
    expect(field.forms.map(({ title, inside }) => [title, inside.map((one) => one.name)])).toEqual([
      ["Account", ["credentials.client_id", "credentials.client_secret"]],
      ["token", ["credentials.token"]],
    ]);
    let values = initialValues(fields);
    expect(values).toEqual({ credentials: { kind: "oauth2.0" } });
    expect(faultsOf(spec, values)).toEqual({ "credentials.client_secret": "Fill this in." });
    expect(faultsOf(spec, values, ["credentials.client_secret"])).toEqual({});
    values = withValue(values, fieldAt(fields, "credentials.client_id"), "me");
    values = withValue(values, fieldAt(fields, "credentials.client_secret"), "hush");
    expect(settingsOf(fields, values)).toEqual({
      credentials: { kind: "oauth2.0", client_id: "me" },
    });
    expect(secretsOf(fields, values)).toEqual({ "credentials.client_secret": "hush" });
    values = inForm(values, field, field.forms[1]);
    expect(formAt(values, field)?.title).toBe("token");
    expect(settingsOf(fields, values)).toEqual({ credentials: { kind: "token" } });
    expect(secretsOf(fields, values)).toEqual({});
    // What is saved says itself which form it is.
    expect(formAt({ credentials: { kind: "token" } }, field)?.title).toBe("token");
  });

  test("of an object that may be left out are asked for when it is there", () => {
    const spec = {
      properties: {
        replication: {
          type: "object",
          required: ["slot"],
          properties: {
            slot: { ...text, pattern: "^[a-z]+$" },
            lag: { type: "integer", default: 64 },
          },
        },
      },
    };
    const fields = fieldsOf(spec);
    const slot = fieldAt(fields, "replication.slot");
    expect(initialValues(fields)).toEqual({});
    expect(faultsOf(spec, {})).toEqual({});
    const begun = { replication: fieldAt(fields, "replication").begin };
    expect(begun).toEqual({ replication: { lag: 64 } });
    expect(faultsOf(spec, begun)).toEqual({ "replication.slot": "Fill this in." });
    const wrong = withValue(begun, slot, "Mine!");
    expect(Object.keys(faultsOf(spec, wrong))).toEqual(["replication.slot"]);
    const right = withValue(begun, slot, "mine");
    expect(faultsOf(spec, right)).toEqual({});
    expect(settingsOf(fields, right)).toEqual({ replication: { lag: 64, slot: "mine" } });
    // What is taken out of it is taken out of what is stored.
    expect(changeOf(right, { replication: { slot: "mine" } })).toEqual({
      replication: { slot: "mine", lag: null },
    });
  });

  test("of a list of objects are a row each", () => {
    const spec = {
      properties: {
        queries: {
          type: "array",
          default: [],
          items: {
            type: "object",
            required: ["name"],
            properties: { name: text, keys: { type: "array", items: text, default: [] } },
          },
        },
      },
    };
    const fields = fieldsOf(spec);
    const queries = fieldAt(fields, "queries");
    expect([queries.kind, queries.begin]).toEqual(["rows", { keys: [] }]);
    let values = { queries: [queries.begin, { name: "b" }] } as Readonly<Record<string, unknown>>;
    expect(faultsOf(spec, values)).toEqual({ "queries.0.name": "Fill this in." });
    values = withValue(values, { name: "queries.0.name", isSecret: false }, "a");
    expect(valueAt(values, "queries.0.name")).toBe("a");
    expect(faultsOf(spec, values)).toEqual({});
    expect(settingsOf(fields, values)).toEqual({
      queries: [{ keys: [], name: "a" }, { name: "b" }],
    });
  });

  test("are JSON only where nothing else fits, and say then what belongs there", () => {
    const kinds = fieldsOf({
      properties: {
        host: text,
        port: { type: "integer", default: 5432 },
        ids: { type: "array", items: { type: "integer" }, examples: [[1, 2]] },
        free: { type: "object", additionalProperties: true },
        deep: { type: "array", items: { properties: { a: { properties: { b: text } }, c: text } } },
        maybe: { anyOf: [{ type: "string" }, { type: "null" }] },
        words: { type: "array", items: { enum: ["a", "b"] } },
        named: {
          oneOf: [
            { const: 1, title: "One" },
            { const: 2, title: "Two" },
          ],
        },
      },
    }).map(({ name, kind, isMain }) => `${name} ${kind}${isMain ? " at once" : ""}`);
    expect(kinds).toEqual([
      "port number at once",
      "host text",
      "ids json",
      "free json",
      "deep json",
      "maybe text",
      "words choices",
      "named choice",
    ]);
    const [ids, deep] = ["ids", "deep"].map((name) =>
      fieldsOf({
        properties: {
          ids: {
            type: "array",
            items: { type: "integer" },
            examples: [[1, 2]],
            description: "Of it.",
          },
          deep: {
            type: "array",
            items: { properties: { a: { properties: { b: text } }, c: text } },
          },
        },
      }).find((one) => one.name === name),
    );
    expect([ids?.description, ids?.example]).toEqual([
      "Of it. A list, as JSON.",
      "[\n  1,\n  2\n]",
    ]);
    expect(deep?.description).toBe("A list, as JSON, with a, c.");
  });
});

describe("an error of the API", () => {
  test("is told by what was found, not by its class", () => {
    const failed = new Problem(422, {
      message: "The query failed.",
      details: {
        reason: "query_failed",
        explanation: "The query failed: there is no column email. Correct it.",
      } as never,
    });
    expect(failed.message).toBe("The query failed: there is no column email. Correct it.");
  });

  test("stands at its fields, wherever they are", () => {
    const failed = new Problem(422, {
      message: "The connection test failed.",
      details: {
        errors: [{ path: "configuration.replication.slot", reason: "x", message: "is taken" }],
        check: { error: "CONFIG_INVALID", message: "Look at `svc spec`." },
      } as never,
    });
    expect(failed.fields).toMatchObject({
      "replication.slot": "It is taken.",
      slot: "It is taken.",
    });
    expect(failed.fix).toBeUndefined();
    const refused = new Problem(422, {
      details: { check: { error: "CREDENTIALS_REJECTED", message: "No." } } as never,
    });
    expect([refused.isOfSecrets, refused.fix]).toEqual([true, "No."]);
  });
});
