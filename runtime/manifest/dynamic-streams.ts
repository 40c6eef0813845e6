/**
 * DynamicDeclarativeStream: streams that are made of a template, one for each set of values, which
 * the manifest lists, or the settings, or the provider.
 */
import { parse } from "yaml";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { type Component, textsOf } from "./document/component.ts";
import { maxStreams, withParameters } from "./document/document.ts";
import { invalid } from "./document/invalid.ts";
import { clockName, type Scope } from "./expressions/evaluate.ts";
import { compileTemplate, type Template } from "./expressions/template.ts";
import { isMapping, isNumber, type PlainValue, truth, valueAt } from "./expressions/values.ts";
import type { SchemaFiles } from "./records/schema-files.ts";
import { compileRetriever, type Reach } from "./retriever.ts";
import type { ManifestContext } from "./slices/partition.ts";
import { openParentOf } from "./stream.ts";

export interface DynamicStreams {
  /** The template, with a name. */
  readonly template: JsonObject;
  /** Of who lists the values, and of credentials that are put into the template. */
  readonly reach: Reach;
  /**
   * The streams of this account, as parts of a document.
   * @throws CONFIG_INVALID for two of a name
   */
  list(ctx: ManifestContext): AsyncGenerator<JsonObject>;
}

export function compileDynamicStreams(part: Component, files: SchemaFiles): DynamicStreams {
  const template = part.get("stream_template");
  if (!isJsonObject(template)) throw invalid(part.at("stream_template"), "must be an object");
  const isOuterFirst = part.get("use_parent_parameters") !== false;
  const resolver = part.required(
    "components_resolver",
    part.child(
      "components_resolver",
      ...(["HttpComponentsResolver", "ConfigComponentsResolver"] as const),
      "ParametrizedComponentsResolver",
    ),
  );
  const written = resolver.children("components_mapping", "ComponentMappingDefinition");
  const mappings = written.map((one) => compileMapping(one, resolver.type));
  const credentials = written
    .filter((one) => textsOf(one.get("field_path"), one.at("field_path")).includes("authenticator"))
    .map((one) => ({ api_token: one.get("value") ?? null }));
  const { reach, values } = compileValues(resolver, files);
  const scopeOf = (ctx: ManifestContext): Scope => ({
    config: ctx.config as Scope,
    parameters: resolver.parameters as Scope,
    stream_template_config: template as Scope,
    [clockName]: ctx.clock.now(),
  });
  return {
    template: withParameters(
      { ...template, name: String(template.name || part.get("name") || "stream_template") },
      ...([{}, isOuterFirst] as const),
    ) as JsonObject,
    reach: { ...reach, authenticators: [...reach.authenticators, ...credentials] },
    async *list(ctx) {
      const names = new Set<unknown>();
      for await (const found of values(ctx, scopeOf(ctx))) {
        const made = structuredClone(template);
        for (const apply of mappings) apply(made, { ...scopeOf(ctx), ...found });
        const isNew = typeof made.name === "string" && !names.has(made.name);
        if (!isNew || names.size >= maxStreams)
          throw new ConnectorError("CONFIG_INVALID", {
            path: resolver.path,
            problem: "makes streams without a name, two of one name, or too many",
          });
        names.add(made.name);
        yield withParameters(made, {}, isOuterFirst) as JsonObject;
      }
    },
  };
}

/** One set of values after another: `components_values`, and what else expressions see. */
interface Values {
  readonly reach: Reach;
  values(ctx: ManifestContext, scope: Scope): AsyncGenerator<Scope> | Generator<Scope>;
}

const nothing: Reach = { origins: [], minted: [], authenticators: [] };

function compileValues(resolver: Component, files: SchemaFiles): Values {
  if (resolver.type === "HttpComponentsResolver") return listedByProvider(resolver, files);
  if (resolver.type === "ConfigComponentsResolver") return listedBySettings(resolver);
  const list = resolver
    .required(
      "stream_parameters",
      resolver.child("stream_parameters", "StreamParametersDefinition"),
    )
    .get("list_of_parameters_for_stream");
  if (!Array.isArray(list)) throw invalid(resolver.at("stream_parameters"), "must have a list");
  return {
    reach: nothing,
    *values() {
      for (const one of list) yield { components_values: one as PlainValue };
    },
  };
}

function listedByProvider(resolver: Component, files: SchemaFiles): Values {
  const parents: Reach[] = [];
  const retriever = compileRetriever(
    resolver.required("retriever", resolver.child("retriever", "SimpleRetriever")),
    {
      ...{ plan: undefined, transformations: [], schema: () => ({}) },
      openParent: openParentOf(resolver.path, 0, files, parents),
    },
  );
  return {
    reach: {
      origins: [retriever.reach, ...parents].flatMap(({ origins }) => origins),
      minted: [retriever.reach, ...parents].flatMap(({ minted }) => minted),
      authenticators: [retriever.reach, ...parents].flatMap(({ authenticators }) => authenticators),
    },
    async *values(ctx) {
      for await (const slice of retriever.open(ctx, {}).slices())
        for await (const page of retriever.read(ctx, slice))
          for (const row of page)
            yield { components_values: row, stream_slice: slice.partition.values };
    },
  };
}

/** Each combination of the lists that the settings have at these places. */
function listedBySettings(resolver: Component): Values {
  const sources = resolver.children("stream_config", "StreamConfig").map((one) => {
    const usual = one.get("default_values") ?? [];
    if (!Array.isArray(usual)) throw invalid(one.at("default_values"), "must be a list");
    const place = one.at("configs_pointer");
    const path = textsOf(one.get("configs_pointer"), place);
    return { usual, path: path.map((step) => compileTemplate(step, place)) };
  });
  return {
    reach: nothing,
    *values(_, scope) {
      let all: Scope[] = [{}];
      for (const [index, { usual, path }] of sources.entries()) {
        const names = path.map((step) => step.text(scope));
        const found = valueAt(scope.config, names);
        const list = [...(found === undefined ? [] : [found].flat()), ...usual] as PlainValue[];
        if (all.length * list.length > maxStreams)
          throw invalid(resolver.at("stream_config"), `makes more than ${maxStreams} streams`);
        all = all.flatMap((before) =>
          list.map((value, at) =>
            isMapping(value)
              ? { ...before, ...value }
              : { ...before, [`source_config_${index}`]: [at, value] },
          ),
        );
      }
      for (const values of all) yield { components_values: values };
    },
  };
}

type Apply = (template: JsonObject, scope: Scope) => void;

function compileMapping(mapping: Component, resolver: string): Apply {
  const value = mapping.required("value", mapping.template("value"));
  const type = mapping.get("value_type");
  const condition = mapping.template("condition");
  const isCreated = mapping.get("create_or_update") === true;
  const place = mapping.at("field_path");
  const path = textsOf(mapping.get("field_path"), place).map((one) => compileTemplate(one, place));
  const isYaml =
    resolver === "ParametrizedComponentsResolver" ||
    (resolver === "ConfigComponentsResolver" && type !== "string");
  return (template, scope) => {
    if (condition && !condition.holds(scope)) return;
    const steps = path.map((step) => step.text(scope));
    if (steps.includes("__proto__")) throw invalid(place, 'names "__proto__"');
    const plain = typed(value, scope, type);
    const made = (isYaml && typeof plain === "string" ? fromYaml(plain) : plain) as JsonValue;
    const isSet = set(template, steps, made);
    if (!isSet && isCreated && truth(made as PlainValue)) create(template, steps, made);
  };
}

/** The value, where it is of that type; else the text. */
function typed(template: Template, scope: Scope, type: JsonValue | undefined): PlainValue {
  const value = template.value(scope);
  if (type === undefined || type === null) return value;
  const isFitting =
    type === "boolean"
      ? typeof value === "boolean"
      : type !== "string" && isNumber(value) && typeof value !== "boolean";
  return isFitting ? value : template.text(scope);
}

/** A text that is YAML is what it says, in the words of YAML 1.1. */
function fromYaml(text: string): unknown {
  try {
    const made: unknown = parse(text, { version: "1.1", maxAliasCount: 0, logLevel: "silent" });
    return made instanceof Date ? text : made;
  } catch {
    return text;
  }
}

/** Changes what is there at that path; `*` is every name. @returns whether anything was */
function set(
  target: JsonValue,
  [name = "", ...rest]: readonly string[],
  value: JsonValue,
): boolean {
  if (typeof target !== "object" || target === null) return false;
  const names = name === "*" ? Object.keys(target) : Object.hasOwn(target, name) ? [name] : [];
  const inside = target as JsonObject;
  if (rest.length > 0)
    return names.map((one) => set(inside[one] ?? null, rest, value)).includes(true);
  for (const one of names) inside[one] = value;
  return names.length > 0;
}

function create(target: JsonObject, path: readonly string[], value: JsonValue): void {
  let at = target;
  for (const name of path.slice(0, -1)) {
    const inner = at[name];
    const next: JsonObject = isJsonObject(inner) ? inner : {};
    at[name] = next;
    at = next;
  }
  at[path.at(-1) ?? ""] = value;
}
