/**
 * ConfigNormalizationRules: what a manifest makes of the settings before anything else sees them.
 * Secrets are placeholders in them, as everywhere in a manifest.
 */
import { Validator } from "@cfworker/json-schema";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { type Component, compileOptions, compileValue, textsOf } from "./document/component.ts";
import { invalid } from "./document/invalid.ts";
import type { DerivedSetting } from "./document/settings.ts";
import { clockName, type Scope } from "./expressions/evaluate.ts";
import { compileTemplate } from "./expressions/template.ts";
import { isMapping, type PlainValue, valueAt } from "./expressions/values.ts";
import type { PlainRecord } from "./records/selector.ts";
import { compileTransformation, type Transform } from "./records/transformations.ts";

export interface SettingsRules {
  /**
   * The settings as the manifest's components see them.
   * @throws CONFIG_INVALID for what the manifest's own rules refuse
   */
  apply(config: JsonObject, clock: Clock): JsonObject;
  /** Settings that the rules make of others. */
  readonly derived: readonly DerivedSetting[];
}

type Validate = (config: PlainRecord, scope: Scope) => void;
const changeTypes = ["ConfigAddFields", "ConfigRemoveFields", "ConfigRemapField"] as const;
const unchanged: SettingsRules = { apply: (config) => config, derived: [] };

export function compileSettingsRules(spec: Component | undefined): SettingsRules {
  const rules = spec?.child("config_normalization_rules", "ConfigNormalizationRules");
  if (!rules) return unchanged;
  // A migration changes what is saved, there; here it is made anew each time, and saved nowhere.
  const changes = [
    ...rules
      .children("config_migrations", "ConfigMigration")
      .flatMap((one) => one.children("transformations", ...changeTypes)),
    ...rules.children("transformations", ...changeTypes),
  ];
  const transforms = changes.map(compileChange);
  const validations = rules
    .children("validations", "DpathValidator", "PredicateValidator")
    .map(compileValidation);
  return {
    derived: changes.flatMap(derivedOf),
    apply(given, clock) {
      const config = structuredClone(given) as PlainRecord;
      const scope: Scope = { config, [clockName]: clock.now() };
      for (const transform of transforms) transform(config, scope);
      for (const validate of validations) validate(config, scope);
      return config as JsonObject;
    },
  };
}

function compileChange(change: Component): Transform {
  if (change.type !== "ConfigRemapField") return compileTransformation(change);
  const place = change.at("field_path");
  const path = textsOf(change.get("field_path"), place).map((one) => compileTemplate(one, place));
  const mapOf = compileOptions(change.get("map"), change.at("map"));
  return (config, scope) => {
    const names = path.map((one) => one.text(scope));
    const last = names.pop() ?? "";
    const owner = valueAt(config, names);
    if (!isMapping(owner) || !Object.hasOwn(owner, last)) return;
    const [value, map] = [owner[last], mapOf(scope)];
    if (typeof value === "string" && Object.hasOwn(map, value))
      (owner as PlainRecord)[last] = map[value];
  };
}

/** Where a change puts a value, and of what it makes it. */
function derivedOf(change: Component): DerivedSetting[] {
  if (change.type === "ConfigAddFields")
    return change.children("fields", "AddedFieldDefinition").map((field) => ({
      path: textsOf(field.get("path"), field.at("path")),
      value: String(field.get("value")),
    }));
  const pointers = change.get("field_pointers");
  const paths = Array.isArray(pointers) ? pointers : [change.get("field_path")];
  return paths.map((path) => ({ path: textsOf(path, change.path), value: "" }));
}

function compileValidation(part: Component): Validate {
  const strategy = part.required(
    "validation_strategy",
    part.child("validation_strategy", "ValidateAdheresToSchema"),
  );
  const hold = compileSchemaCheck(strategy);
  if (part.type === "PredicateValidator") {
    const evaluate = compileValue(part.get("value") ?? null, part.at("value"));
    return (_, scope) => hold(evaluate(scope), part.at("value"), scope);
  }
  const place = part.at("field_path");
  const path = textsOf(part.get("field_path"), place).map((one) => compileTemplate(one, place));
  if (path.length === 0) throw invalid(place, "must name a setting");
  return (config, scope) => {
    const names = path.map((one) => one.text(scope));
    // A setting that is left out is no fault: the schema of the settings says which are needed.
    for (const value of valuesAt(config, names)) hold(value, names.join("."), scope);
  };
}

/** Says what is wrong by its place and the schema's keyword, never by the value. */
function compileSchemaCheck(strategy: Component) {
  const place = strategy.at("base_schema");
  const written = strategy.get("base_schema");
  const fixed = isJsonObject(written) ? toValidator(written, place) : undefined;
  const template = typeof written === "string" ? compileTemplate(written, place) : undefined;
  if (!fixed && !template) throw invalid(place, "must be a JSON schema");
  return (value: PlainValue, path: string, scope: Scope): void => {
    const validator = fixed ?? toValidator(template?.value(scope) as JsonValue, place);
    const { valid, errors } = validator.validate(
      typeof value === "string" ? parsed(value, path) : value,
    );
    if (valid) return;
    const fault = errors.at(-1);
    throw new ConnectorError("CONFIG_INVALID", {
      path,
      problem: `does not fit the schema at ${place}: "${fault?.keyword}" at "${fault?.instanceLocation}"`,
    });
  };
}

function toValidator(schema: JsonValue, place: string): Validator {
  if (!isJsonObject(schema)) throw invalid(place, "must be a JSON schema");
  return new Validator(schema as never, "7", true);
}

/** A text is JSON there: a setting in which somebody types a document. */
function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConnectorError("CONFIG_INVALID", { path, problem: "must be JSON" });
  }
}

function valuesAt(value: PlainValue, names: readonly string[]): PlainValue[] {
  const [name, ...rest] = names;
  if (name === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  const keys = name === "*" ? Object.keys(value) : Object.hasOwn(value, name) ? [name] : [];
  return keys.flatMap((key) => valuesAt((value as Record<string, PlainValue>)[key], rest));
}
