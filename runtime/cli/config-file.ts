import { type Setting, writeValue } from "./spec-settings.ts";
import { describeFacts, describeSetting } from "./spec-text.ts";
import { printable } from "./usage.ts";
import { wrap } from "./wrap.ts";

/** A connector as its first configuration names it. */
interface Named {
  /** As the command line calls it. */
  readonly name: string;
  readonly title: string;
  /** The begin of the names of files with its secrets. */
  readonly fileStem: string;
  /** Its tables have no cursors of their own: the configuration may choose them. */
  readonly takesCursors: boolean;
}

/** Width of the comments. */
const lineWidth = 96;

/**
 * A first configuration, in YAML: each setting with a comment. What is required is there to be
 * filled in, secrets name a file of their own, and what may be left out is commented out, with its
 * default.
 */
export function writeConfig(connector: Named, settings: readonly Setting[]): string {
  const { name, title, fileStem, takesCursors } = connector;
  const shown = printable(name, 300);
  const secretPrefix = `./${fileName(fileStem)}-`;
  const lines = [
    ...comment(`${printable(title)}: settings of ${shown}.`),
    "#",
    ...comment(
      "Fill in what is required. What may be left out is commented out, with its default where it has one. A secret stands in a file of its own, without anything else; its path is relative to this file.",
    ),
    "#",
    ...comment(`Then: svc check ${shown} --config THIS_FILE`),
    ...settings.flatMap((setting) => ["", ...settingLines(setting, secretPrefix)]),
    ...(takesCursors
      ? [
          "",
          ...comment(
            "Columns by which tables are read incrementally; svc discover proposes some. Optional; full refresh without it.",
          ),
          "# cursor: { public.orders: updated_at }",
          "",
          ...comment(
            "The columns and rows that are read of a table, and columns of which only a keyed hash is left. Optional.",
          ),
          "# columns: { public.orders: [id, email, total] }",
          "# hash: { public.orders: [email] }",
          '# where: { public.orders: ["status = paid"] }',
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}

function settingLines(setting: Setting, secretPrefix: string): readonly string[] {
  const words = describeSetting(setting).replace(/[^.!?…]$/, "$&.");
  const facts = describeFacts(setting);
  const value = valueLines(setting, secretPrefix);
  return [
    ...comment(words),
    ...comment(`${facts.charAt(0).toUpperCase()}${facts.slice(1)}.`),
    ...(setting.isRequired ? value : value.map(commentOut)),
  ];
}

function valueLines(setting: Setting, secretPrefix: string): readonly string[] {
  const { name, isSecret, default: initial, example, settings, alternatives } = setting;
  const key = `${writeValue(name)}:`;
  if (isSecret) return [`${key} { $file: ${secretPrefix}${fileName(name)}.txt }`];
  if (settings.length > 0 || alternatives.length > 0) {
    const inner = `${secretPrefix}${fileName(name)}-`;
    return [
      key,
      ...indent(settings.flatMap((one) => settingLines(one, inner))),
      ...alternatives.flatMap((form, index) => [
        `  # Form ${index + 1}:`,
        ...indent(form.flatMap((one) => settingLines(one, inner).map(commentOut))),
      ]),
    ];
  }
  if (initial !== undefined) return [`${key} ${writeValue(initial)}`];
  return setting.isRequired || example === undefined ? [key] : [`${key} ${writeValue(example)}`];
}

/** Only letters, digits and dashes: the name is the connector's own. */
const fileName = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
const comment = (text: string) => wrap(text, lineWidth).map((line) => `# ${line}`);
const commentOut = (line: string) => (line === "" ? "#" : `# ${line}`);
const indent = (lines: readonly string[]) =>
  lines.map((line) => (line === "" ? line : `  ${line}`));
