import type { Command } from "@commander-js/extra-typings";
import { hostNamePattern } from "../contract/image.ts";
import { suggestion, UsageError } from "./usage.ts";

const sandboxLevels = ["process", "bubblewrap", "inline"] as const;

/** Adds the flags of every command that runs a connector with a configuration. */
export const addConfigOptions = (command: Command) =>
  addImageOptions(addSettingsOption(command))
    .option(...sandboxFlag())
    .option(
      "--memory <MB>",
      "heap of the connector's process; default 512",
      wholeNumber("memory", 32, 65_536),
    )
    .option(
      "--config <FILE>",
      'settings of the connector, JSON or YAML; {"$file": "path"} reads a secret from a file',
    );

/** The flag of every command that loads a connector. */
export const sandboxFlag = () =>
  [
    "--sandbox <LEVEL>",
    "process (default), bubblewrap or inline (an author's debugger only)",
    oneOf("sandbox", sandboxLevels),
  ] as const;

export const allowLocalFlag = [
  "--allow-local",
  "reach the provider of a connector under development that declares it on this machine (http, localhost)",
] as const;

/** Adds the flags of the commands with which a person tries a connector. */
export const addTrialOptions = (command: Command) =>
  addConfigOptions(command).option(...allowLocalFlag);

/** Adds the flags that say what an image may have. */
const addImageOptions = (command: Command<[], { settings?: string }>) =>
  command.option(...allowHostFlag()).option(...exposeSecretFlag());

export const allowHostFlag = () =>
  [
    "--allow-host <NAME>",
    "a host that requests of image:NAME may go to; as often as you like",
    collect(isHostName, "--allow-host", "a host name, like api.example.com"),
  ] as const;

export const exposeSecretFlag = () =>
  [
    "--expose-secret <SETTING>",
    "a secret that image:NAME gets as it is, because it computes something from it; others are placeholders",
    collect((text) => text !== "", "--expose-secret", "the name of a secret setting"),
  ] as const;

const isHostName = (text: string) => text.length <= 253 && new RegExp(hostNamePattern).test(text);

const collect =
  (isValid: (text: string) => boolean, flag: string, expected: string) =>
  (value: string, before: readonly string[] = []): readonly string[] => {
    if (!isValid(value)) throw new UsageError(`${flag} must be ${expected}`);
    return [...new Set([...before, value])];
  };

export const addSettingsOption = (command: Command) =>
  command.option(
    "--settings <FILE>",
    "operator settings; default svc.config.yaml here, if there is one",
  );

/** Makes a parser of values that refuses whatever is not in the list. @throws UsageError */
export function oneOf<const T extends string>(name: string, allowed: readonly T[]) {
  const parse = (value: string): T => {
    const found = allowed.find((one) => one === value);
    if (found) return found;
    throw new UsageError(
      `--${name} must be one of ${allowed.join(", ")}${suggestion(value, allowed)}`,
    );
  };
  allowedValues.set(parse, allowed);
  return parse;
}

const allowedValues = new WeakMap<object, readonly string[]>();

/** The values that a parser of {@link oneOf} takes; none for other parsers. */
export const allowedOf = (parser: object | undefined): readonly string[] =>
  (parser && allowedValues.get(parser)) ?? [];

/** Makes a parser of whole numbers in a range. @throws UsageError */
export const wholeNumber =
  (name: string, least: number, most: number) =>
  (value: string): number => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
  };
