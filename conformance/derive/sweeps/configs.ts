/**
 * The config sweep: the valid configuration with one thing wrong in it, for everything that the
 * spec says of a setting.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import { alternativesOf, inlined } from "../spec/properties.ts";
import { compileSchema } from "../spec/schemas.ts";
import { wrongValues } from "./config-values.ts";
import { settingAt, withSetting } from "./settings.ts";

export interface ConfigCase {
  /** "page_size is text". */
  readonly name: string;
  /** Dotted path of the setting; "" is the whole. */
  readonly path: string;
  readonly kind:
    | "removed"
    | "wrong type"
    | "empty"
    | "blank"
    | "line break"
    | "NUL"
    | "1 MB"
    | "out of range"
    | "unknown key"
    | "unknown alternative";
  readonly config: JsonObject;
  readonly schema: JsonObject;
  /** No such configuration can be meant. Else it is enough that nothing breaks. */
  readonly isWrong: boolean;
}

/** A setting in the alternatives that the configuration has chosen. */
export interface Setting {
  readonly path: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
}

/** Every case, in the order of the spec. */
export function configCases(lab: Pick<Lab, "spec" | "config">): readonly ConfigCase[] {
  const { spec, config } = lab;
  const isInvalid = validityOf(spec);
  const settings = settingsOf(inlined(spec), config, config);
  const removed = settings
    .filter(({ schema, isRequired }) => isRequired && schema.default === undefined)
    .flatMap((setting): ConfigCase[] => {
      const without = withSetting(config, setting.path, undefined);
      return without
        ? [
            {
              ...setting,
              name: `${setting.path} is missing`,
              kind: "removed",
              config: without,
              isWrong: true,
            },
          ]
        : [];
    });
  const values = settings.flatMap((setting) =>
    wrongValues(setting).flatMap(({ what, kind, value, isHostile }): ConfigCase[] => {
      const changed = withSetting(config, setting.path, value);
      if (!changed || Object.hasOwn(setting.schema, "const")) return [];
      const isWrong = isInvalid(changed);
      // "Out of range" is what the schema says it is.
      if (!isWrong && !isHostile && (kind === "out of range" || kind === "wrong type")) return [];
      return [
        {
          ...setting,
          name: `${setting.path} is ${what}`,
          kind,
          config: changed,
          isWrong: isWrong || isHostile,
        },
      ];
    }),
  );
  return [
    ...removed,
    ...values,
    ...unknownKeys(settings, config, isInvalid),
    ...unknownAlternatives(settings, config, isInvalid),
  ];
}

function validityOf(spec: JsonObject): (config: JsonObject) => boolean {
  try {
    const compiled = compileSchema(spec);
    return (config) => compiled.fault(config) !== undefined;
  } catch {
    return () => false; // SPEC-02 says what is wrong with the schema
  }
}

function settingsOf(
  schema: JsonObject,
  config: JsonObject,
  value: JsonValue | undefined,
  prefix = "",
): Setting[] {
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const undeclared =
    prefix === ""
      ? required.filter(
          (name) =>
            !Object.hasOwn(properties, name) &&
            !alternativesOf(schema).some(
              (one) => isJsonObject(one.properties) && Object.hasOwn(one.properties, name),
            ),
        )
      : [];
  const own = Object.entries(properties).flatMap(([name, part]): Setting[] => {
    if (!isJsonObject(part)) return [];
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const below = settingAt(config, path);
    return [
      { path, schema: part, isRequired: required.includes(name) },
      ...(isJsonObject(below) ? settingsOf(part, config, below, path) : []),
    ];
  });
  const chosen = alternativesOf(schema)
    .filter((one) => isChosen(one, value))
    .flatMap((one) => settingsOf(one, config, value, prefix));
  const known = new Set(own.map(({ path }) => path));
  return [
    ...own,
    ...chosen.filter(({ path }) => !known.has(path)),
    ...undeclared.map((path) => ({ path, schema: {}, isRequired: true })),
  ];
}

/** An alternative whose constants are those of the value. */
function isChosen({ properties }: JsonObject, value: JsonValue | undefined): boolean {
  if (!isJsonObject(properties)) return false;
  return Object.entries(properties).every(
    ([name, part]) =>
      !isJsonObject(part) ||
      !Object.hasOwn(part, "const") ||
      (isJsonObject(value) && value[name] === part.const),
  );
}

const unknownName = "no_such_setting";

function unknownKeys(
  settings: readonly Setting[],
  config: JsonObject,
  isInvalid: (config: JsonObject) => boolean,
): ConfigCase[] {
  const objects = settings.flatMap(({ path }) =>
    isJsonObject(settingAt(config, path)) ? [path] : [],
  );
  return ["", ...objects].flatMap((path): ConfigCase[] => {
    const at = path === "" ? unknownName : `${path}.${unknownName}`;
    const changed = withSetting(config, at, "x");
    return changed
      ? [
          {
            name: `${at} is given, which the spec does not know`,
            path: at,
            kind: "unknown key",
            config: changed,
            schema: {},
            isWrong: isInvalid(changed),
          },
        ]
      : [];
  });
}

/** Where one of several forms has to be chosen, one that does not exist. */
function unknownAlternatives(
  settings: readonly Setting[],
  config: JsonObject,
  isInvalid: (config: JsonObject) => boolean,
): ConfigCase[] {
  return settings.flatMap(({ path, schema }): ConfigCase[] => {
    if (!Object.hasOwn(schema, "const")) return [];
    const changed = withSetting(config, path, "no-such-alternative");
    return changed
      ? [
          {
            name: `${path} names no alternative`,
            path,
            kind: "unknown alternative",
            config: changed,
            schema,
            isWrong: isInvalid(changed),
          },
        ]
      : [];
  });
}
