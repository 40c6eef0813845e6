import { parseArgs } from "node:util";
import { printable, suggestion, UsageError } from "./usage.ts";

/** A flag of a command. `value` is the placeholder in the help; a flag without one is a switch. */
export interface Flag {
  readonly value?: string;
  readonly help: string;
}
export type Flags = { readonly [name: string]: Flag };

/** Flags of every command that runs a connector. */
export const hostFlags = {
  settings: {
    value: "FILE",
    help: "operator settings; default svc.config.yaml here, if there is one",
  },
  sandbox: {
    value: "LEVEL",
    help: "process (default), bubblewrap or inline (an author's debugger only)",
  },
  memory: { value: "MB", help: "heap of the connector's process; default 512" },
  help: { help: "show this" },
} as const satisfies Flags;

export const configFlag = {
  config: {
    value: "FILE",
    help: 'settings of the connector, JSON or YAML; {"$file": "path"} reads a secret from a file',
  },
} as const;

export interface Options<F extends Flags> {
  readonly values: {
    readonly [Name in keyof F]?: F[Name] extends { value: string } ? string : boolean;
  };
  readonly positionals: readonly string[];
}

/** Flags and words of a command line, in any order. @throws UsageError */
export function parseOptions<const F extends Flags>(args: readonly string[], flags: F): Options<F> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      { type: flag.value ? ("string" as const) : ("boolean" as const) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const values: Record<string, string | boolean> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined;
    if (!flag)
      throw new UsageError(
        `unknown flag ${printable(token.rawName)}${suggestion(token.name, Object.keys(flags))}`,
      );
    if (Object.hasOwn(values, token.name)) throw new UsageError(`--${token.name} is given twice`);
    // "--config --catalog x": the next flag is not the value.
    const isMissing =
      token.value === undefined ||
      token.value === "" ||
      (!token.inlineValue && token.value.startsWith("--"));
    if (flag.value && isMissing)
      throw new UsageError(`--${token.name} needs a value: --${token.name} ${flag.value}`);
    if (!flag.value && token.value !== undefined)
      throw new UsageError(`--${token.name} takes no value`);
    values[token.name] = token.value ?? true;
  }
  return { values: values as Options<F>["values"], positionals };
}

/** @throws UsageError when the value is not in the list */
export function oneOf<const T extends string>(
  name: string,
  value: string,
  allowed: readonly T[],
): T {
  const found = allowed.find((one) => one === value);
  if (found) return found;
  throw new UsageError(
    `--${name} must be one of ${allowed.join(", ")}${suggestion(value, allowed)}`,
  );
}

/** @throws UsageError when the value is not a whole number in the range */
export function wholeNumber(name: string, value: string, least: number, most: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
}

/** The help of a command's flags. */
export function describeFlags(flags: Flags): string {
  const names = Object.entries(flags).map(
    ([name, { value }]) => `--${name}${value ? ` ${value}` : ""}`,
  );
  const width = Math.max(...names.map((name) => name.length));
  return Object.values(flags)
    .map(({ help }, index) => `  ${names[index]?.padEnd(width)}  ${help}`)
    .join("\n");
}
