import { type Setting, writeValue } from "./spec-settings.ts";
import { printable } from "./usage.ts";
import { wrap } from "./wrap.ts";

/** The settings that a connector asks for, as text for a terminal of `columns`. */
export function formatSettings(settings: readonly Setting[], columns: number): string {
  const rows = rowsOf(settings, "");
  const width = Math.min(Math.max(0, ...rows.map(({ name }) => name.length)), 40);
  const indent = " ".repeat(width + 2);
  const textWidth = Math.max(columns - indent.length, 40);
  return rows
    .map(({ name, facts, text }) => {
      const [first = "", ...rest] = [...wrap(facts, textWidth), ...wrap(text, textWidth)];
      // A name that is wider than the column stands on a line of its own.
      const head = name.length > width ? `${name}\n${indent}` : name.padEnd(indent.length);
      return [`${head}${first}`, ...rest.map((line) => `${indent}${line}`)].join("\n");
    })
    .join("\n");
}

interface Row {
  /** With the groups around it: `tunnel.host`. */
  readonly name: string;
  readonly facts: string;
  readonly text: string;
}

function rowsOf(settings: readonly Setting[], prefix: string): readonly Row[] {
  return settings.flatMap((setting) => {
    const name = `${prefix}${setting.name}`;
    return [
      { name, facts: describeFacts(setting), text: describeSetting(setting) },
      ...rowsOf(setting.settings, `${name}.`),
      ...setting.alternatives.flatMap((form, index) =>
        rowsOf(form, `${name}.`).map((row) => ({
          ...row,
          facts: `form ${index + 1}: ${row.facts}`,
        })),
      ),
    ];
  });
}

/** Whether it must be given, what it takes, and what it is without: `required, text`. */
export function describeFacts(setting: Setting): string {
  const { isRequired, isSecret, form, default: value, alternatives } = setting;
  return [
    ...(isRequired ? ["required"] : value === undefined ? ["optional"] : []),
    ...(isSecret ? ["secret"] : []),
    ...(alternatives.length > 0 ? [`has one of ${alternatives.length} forms`] : [form]),
    ...(value === undefined ? [] : [`default ${printable(writeValue(value), 200)}`]),
  ].join("; ");
}

/** The description of a setting, after its title where the description does not say it already. */
export function describeSetting({ title, description, example }: Setting): string {
  const says = description.toLowerCase().includes(title.toLowerCase());
  return [
    ...(title === "" || says ? [] : [`${title}.`]),
    ...(description === "" ? [] : [description]),
    ...(example === undefined ? [] : [`For instance ${printable(writeValue(example), 200)}`]),
  ].join(" ");
}
