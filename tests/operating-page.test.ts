import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SettingsDocument } from "../control/commands/settings-schema.ts";
import { defaultJobLimits, defaultLimits } from "../control/services/settings.ts";
import { metrics } from "../control/telemetry/metrics.ts";

const page = readFileSync(new URL("../docs/operating.md", import.meta.url), "utf8");

/** Cells of the table rows whose first one is code. */
const rows = [...page.matchAll(/^\| `([^`]+)` \| (.*) \|$/gm)].map(([, name = "", rest = ""]) => [
  name,
  ...rest.split(" | "),
]);

test("docs/operating.md has every metric with its kind, labels and meaning", () => {
  const documented = rows.filter(([name]) => name?.startsWith("svc_"));
  const expected = Object.entries(metrics).map(([name, { kind, labels, help }]) => [
    name,
    kind,
    labels.map((label) => `\`${label}\``).join(", "),
    help,
  ]);
  expect(documented).toEqual(expected);
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

/** Dotted names of the settings that have a value of their own. */
function settingsOf({ properties, patternProperties }: Schema, prefix = ""): string[] {
  if (patternProperties)
    return Object.values(patternProperties).flatMap((schema) =>
      settingsOf(schema, `${prefix}<connector>.`),
    );
  if (!properties || "$file" in properties) return [prefix.slice(0, -1)];
  return Object.entries(properties).flatMap(([name, schema]) =>
    settingsOf(schema, `${prefix}${name}.`),
  );
}

test("docs/operating.md has every setting of svc.config.yaml, and no other", () => {
  const documented = rows.map(([name = ""]) => name).filter((name) => !name.startsWith("svc_"));
  const known = ["approved_hosts", "allow_networks", ...settingsOf(SettingsDocument as Schema)];
  expect(documented.toSorted()).toEqual(known.toSorted());
});

test("docs/operating.md has the defaults of the limits", () => {
  const defaultOf = (setting: string) => rows.find(([name]) => name === setting)?.[1];
  for (const [name, value] of Object.entries(defaultLimits))
    expect(defaultOf(`limits.${name}`)).toBe(String(value));
  for (const [name, value] of Object.entries(defaultJobLimits)) {
    const setting = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(defaultOf(`jobs.${setting}`)).toBe(String(value));
  }
});
