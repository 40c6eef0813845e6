import { describe, expect, test } from "vitest";
import type { JsonObject } from "../contract/json.ts";
import { parseConfig } from "../spec/config.ts";
import { writeConfig } from "./config-file.ts";
import { settingsOf } from "./spec-settings.ts";
import { formatSettings } from "./spec-text.ts";
import { parseYaml } from "./yaml.ts";

const spec: JsonObject = {
  type: "object",
  required: ["host", "token", "works", "tunnel"],
  properties: {
    host: { type: "string", title: "Host", description: "Name of the server.", minLength: 1 },
    token: { type: "string", title: "Token", "x-svc-secret": true, writeOnly: true },
    works: { type: "boolean", description: "Whether it works.", default: true },
    mode: { enum: ["no", "prefer"], type: "string", description: "As in libpq.", default: "no" },
    start: { type: "string", format: "date", examples: ["2026-01-01"] },
    patterns: { type: "array", items: { type: "string" }, default: ["*.tmp_*", "a: b"] },
    limit: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
    tunnel: {
      type: "object",
      description: "A way in.",
      required: ["gate", "key"],
      properties: {
        gate: { type: "string", description: "Its name." },
        key: { type: "string", "x-svc-secret": true, writeOnly: true },
        port: { type: "integer", maximum: 65535, default: 22 },
      },
    },
    login: {
      description: "Who reads.",
      oneOf: [
        { type: "object", properties: { kind: { const: "nobody" } } },
        { type: "object", required: ["name"], properties: { name: { type: "string" } } },
      ],
    },
  },
};
const connector = { name: "./x", title: "X", fileStem: "my_x", takesCursors: false };
const written = writeConfig(connector, settingsOf(spec));
const parse = (text: string) => parseYaml(text, "config file") as JsonObject;
/** With what is commented out in it: a comment of a setting begins with its name and a colon. */
const uncommented = (text: string) => text.replace(/^( *)# ((?: *)[\w]+:(?: .*)?)$/gm, "$1$2");

describe("a first configuration", () => {
  test("has what is required, to be filled in, and secrets in files of their own", () => {
    expect(parse(written)).toEqual({
      host: null,
      token: { $file: "./my-x-token.txt" },
      tunnel: { gate: null, key: { $file: "./my-x-tunnel-key.txt" } },
    });
  });

  test("is one that the connector takes once that is filled in, with the defaults that it shows", () => {
    const filled = parse(
      uncommented(
        written
          .replace("host:", "host: db")
          .replace("gate:", "gate: g")
          .replace("# limit:", "# limit: 7")
          .replace(/# Who reads[\s\S]*/, "")
          .replace(/^(#.*\n)+/, ""),
      ).replace(/\{ \$file: .* \}/g, "text"),
    );
    expect(filled).toEqual({
      host: "db",
      token: "text",
      works: true,
      mode: "no",
      start: "2026-01-01",
      patterns: ["*.tmp_*", "a: b"],
      limit: 7,
      tunnel: { gate: "g", key: "text", port: 22 },
    });
    expect(parseConfig({ spec }, filled).whole).toEqual(filled);
  });

  test("that is not filled in is refused with the name of what has no value", () => {
    const refusal = (config: JsonObject) => {
      try {
        return parseConfig({ spec }, config);
      } catch (error) {
        return String(error);
      }
    };
    const tunnel = { gate: "g", key: "k" };
    expect(refusal({ host: null, token: "t", tunnel })).toMatch(/host has no value/);
    expect(refusal({ host: "h", token: "t", tunnel, mode: null })).toMatch(/mode has no value/);
  });

  test("says of each setting what it is, what it takes and what it is without", () => {
    expect(written).toContain(
      '# As in libpq.\n# One of "no", prefer; default "no".\n# mode: "no"\n',
    );
    expect(written).toContain("# Host. Name of the server.\n# Required; text.\nhost:\n");
    expect(written).toContain("# Required; secret; text.\n");
    expect(written).toMatch(/^# login:\n# {3}# Form 1:\n/m);
    expect(written).toMatch(/^# {3}# Form 2:\n.*\n# {3}# name:$/m);
    expect(written.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test("holds no line, key or control character of the connector's own making", () => {
    const evil = "x\n\u001b[2Jinjected: yes\u0085more: no\u2028last: 1";
    const text = writeConfig(
      { name: evil, title: evil, fileStem: evil, takesCursors: true },
      settingsOf({
        properties: {
          [evil]: {
            type: "string",
            title: evil,
            description: evil,
            default: evil,
            examples: [evil],
          },
          secret: { type: "string", enum: [evil], writeOnly: true, description: evil },
        },
      }),
    );
    expect(text).not.toMatch(/[^\n\P{Cc}]|[\p{Zl}\p{Zp}\p{Cf}]/u);
    expect(parse(text)).toBeNull();
  });
});

test("svc spec shows the same facts, groups with their names, in lines that fit", () => {
  const text = formatSettings(settingsOf(spec), 80);
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(text).toMatch(/^host +required; text\n +Host\. Name of the server\.$/m);
  expect(text).toMatch(/^mode +one of "no", prefer; default "no"$/m);
  expect(text).toMatch(/^start +optional; text \(date\)\n +For instance "2026-01-01"$/m);
  expect(text).toMatch(/^limit +optional; a whole number from 1 on$/m);
  expect(text).toMatch(/^tunnel\.port +a whole number up to 65535; default 22$/m);
  expect(text).toMatch(/^login\.name +form 2: required; text$/m);
});
