import { createHash } from "node:crypto";
import { type Context, createContext, Script } from "node:vm";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import { exclusiveKeyword, releaseKeyword, secretKeyword } from "../contract/spec.ts";
import { parsePointer, valueAt } from "../wire/json-pointer.ts";
import { compiledAhead } from "./compiled.ts";

/** One thing that is wrong with a document: where, and what, without its value. */
export interface Fault {
  /** Dotted path; "" is the document itself. */
  readonly path: string;
  readonly problem: string;
}

const addFormats = formatsPlugin as unknown as (ajv: Ajv2020) => void;

/** Keywords of ours and of Airbyte's that annotate and do not constrain. */
const annotations = [
  secretKeyword,
  exclusiveKeyword,
  releaseKeyword,
  "airbyte_secret",
  "airbyte_type",
  "order",
  "multiline",
  "always_show",
  "group",
  "pattern_descriptor",
];

/** @param options `keepsCode` for the build, which writes down what was compiled */
export function createValidator({ keepsCode = false } = {}): Ajv2020 {
  const ajv = new Ajv2020({
    useDefaults: true,
    // Beyond, lists are looped over instead of becoming code: compiling that takes long.
    loopRequired: 20,
    loopEnum: 20,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    ownProperties: true,
    // Compiling what schemas are checked with takes longer than any schema: once is enough.
    validateSchema: false,
    // Most run once or a few times: making the code smaller takes longer than it saves.
    code: { optimize: keepsCode, source: keepsCode },
  });
  addFormats(ajv);
  for (const keyword of annotations) ajv.addKeyword({ keyword });
  return ajv;
}

/** Every schema of {@link compileLater}, for the build. */
export const ownSchemas: object[] = [];

/** The name of a schema's validator that the build has compiled. */
export const digestOf = (schema: object): string =>
  createHash("sha256").update(JSON.stringify(schema)).digest("base64url");

/**
 * As {@link compileSchema}, for a schema of the runtime, which nobody has to look at: compiled by
 * the build, or when it is first needed.
 */
export function compileLater(schema: object): (document: JsonValue) => readonly Fault[] {
  ownSchemas.push(schema);
  let compiled: ReturnType<typeof toCheck> | undefined;
  return (document) => {
    compiled ??= toCheck(
      compiledAhead[digestOf(schema)] ?? createValidator().compile(schema),
      slowKeywords.test(JSON.stringify(schema)),
    );
    return compiled(document);
  };
}

/** The dialect JSON Schema 2020-12, which a schema has that names no other. */
export const metaschema = "https://json-schema.org/draft/2020-12/schema";
let schemaValidator: Ajv2020 | undefined;

function ownValidator(): Ajv2020 {
  schemaValidator ??= createValidator();
  return schemaValidator;
}

/**
 * Whether a schema may have this keyword. Ajv's own getKeyword says no of those that only annotate.
 */
export const knowsKeyword = (name: string): boolean =>
  Object.hasOwn(ownValidator().RULES.keywords, name);

/** Whether a schema may ask for texts of this format. */
export const knowsFormat = (name: string): boolean => Object.hasOwn(ownValidator().formats, name);

/** @throws Error when it is no JSON Schema (2020-12) */
function requireSchema(schema: object): void {
  const { $schema = metaschema } = schema as { readonly $schema?: unknown };
  const validate = $schema === metaschema ? compiledAhead[metaschema] : undefined;
  const isSchema = validate ? validate(schema) : ownValidator().validateSchema(schema);
  if (isSchema === true) return;
  const [fault] = (validate ?? ownValidator()).errors ?? [];
  throw new Error("it is no JSON Schema", { cause: fault?.instancePath });
}

/**
 * Where a schema is none, as {@link compileSchema} has found out: names of its own as far as they
 * look like names; "" when nothing is known.
 */
export function schemaPlace(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const isName = (name: string) => /^[A-Za-z_$][\w$-]{0,39}$/.test(name);
  const [, keyword = ""] = /unknown keyword: "(.*)"/.exec(error.message) ?? [];
  if (isName(keyword)) return `${keyword} is not a keyword of it`;
  const path = typeof error.cause === "string" ? parsePointer(error.cause) : [];
  return path.length > 0 && path.every((name) => isName(name) || /^\d{1,4}$/.test(name))
    ? `look at ${path.join(".")}`
    : "";
}

/**
 * Many runs of one connector have one schema; compiling it takes longer than the rest of a short
 * run.
 */
const compiledSchemas = new Map<string, ReturnType<typeof toCheck>>();
/**
 * Keywords whose work may grow faster than the document and the schema; references may go through a
 * part of either again and again.
 */
const slowKeywords =
  /"(?:pattern|patternProperties|format|uniqueItems|\$ref|\$dynamicRef|\$recursiveRef)":/;
const maxCompiledSchemas = 100;

/**
 * Compiles a schema that comes from a connector. The result fills defaults into its document and
 * lists the faults.
 * @throws Error when the schema is not a valid, strict JSON Schema (2020-12)
 */
export function compileSchema(schema: object): (document: JsonValue) => readonly Fault[] {
  const text = JSON.stringify(schema);
  const known = compiledSchemas.get(text);
  if (known) return known;
  const ahead = compiledAhead[digestOf(schema)];
  if (!ahead) requireSchema(schema);
  // Compiled ahead are those of svc's own connectors, none of which takes long.
  const compiled = ahead
    ? toCheck(ahead, false)
    : toCheck(createValidator().compile(schema), slowKeywords.test(text));
  for (const oldest of compiledSchemas.keys()) {
    if (compiledSchemas.size < maxCompiledSchemas) break;
    compiledSchemas.delete(oldest);
  }
  compiledSchemas.set(text, compiled);
  return compiled;
}

/** @param isWatched stops a validation that takes too long, which costs a thread each time */
function toCheck(
  validate: ValidateFunction,
  isWatched: boolean,
): (document: JsonValue) => readonly Fault[] {
  return (document) => {
    if (isWatched ? withinTime(() => validate(document)) : validate(document)) return [];
    return (validate.errors ?? []).map(({ instancePath, keyword, params, message }) => {
      const path = parsePointer(instancePath).join(".");
      const missing = (params as { missingProperty?: string }).missingProperty;
      if (keyword === "required") return { path: join(path, missing ?? ""), problem: "is missing" };
      // As YAML leaves it behind a colon.
      if ((keyword === "type" || keyword === "enum") && valueAt(document, instancePath) === null)
        return { path, problem: "has no value" };
      const allowed = (params as { allowedValues?: unknown[] }).allowedValues;
      if (keyword === "enum" && allowed)
        return { path, problem: `must be one of ${allowed.join(", ")}` };
      if (keyword === "additionalProperties") {
        const name = (params as { additionalProperty: string }).additionalProperty;
        // A name is repeated only when it looks like one: a value pasted in the wrong place is not
        // repeated.
        return {
          path: /^[A-Za-z_][\w-]{0,39}$/.test(name) ? join(path, name) : path,
          problem: "is not a known setting",
        };
      }
      // `pattern` and `const` would quote the schema at length; the rest is a short sentence about
      // the rule, never the value.
      if (keyword === "pattern") return { path, problem: "does not have the required form" };
      return { path, problem: message ?? "is not valid" };
    });
  };
}

let stoppable: { readonly script: Script; readonly context: Context } | undefined;

/** Whether the validation under way is being watched. */
let isWatching = false;

/** So many documents are watched together: each watch costs a thread. */
const watchedTogether = 64;

/**
 * Validates documents that are many and mostly small. Those that together take as long as one may
 * are validated once more, each with that time for itself.
 * @throws CONNECTOR_INVALID when one takes too long
 */
export function validateAll<T, R>(documents: readonly T[], validate: (document: T) => R): R[] {
  const results: R[] = [];
  for (let from = 0; from < documents.length; from += watchedTogether) {
    const some = documents.slice(from, from + watchedTogether);
    results.push(...(together(some, validate) ?? some.map(validate)));
  }
  return results;
}

/** Undefined when it takes too long. */
function together<T, R>(documents: readonly T[], validate: (document: T) => R): R[] | undefined {
  try {
    return withinTime(() => documents.map(validate));
  } catch (error) {
    if (error instanceof ConnectorError && error.code === "CONNECTOR_INVALID") return undefined;
    throw error;
  }
}

/** Tries of a validation that hardly ran, because the machine was busy with others. */
const maxTries = 10;

/**
 * Runs `work`, which may be stopped from outside even within a regular expression. What counts is
 * the time of the processor: half of the limit is surely used up when the clock has shown all of it
 * on an idle machine.
 * @throws CONNECTOR_INVALID when it takes too long
 */
function withinTime<T>(work: () => T): T {
  if (isWatching) return work();
  // One context for all: making one takes longer than most validations.
  stoppable ??= { script: new Script("work()"), context: createContext({}) };
  stoppable.context.work = work;
  const timeout = budgets.validation.seconds * 1000;
  const before = process.threadCpuUsage();
  for (let tries = 1; ; tries++) {
    try {
      isWatching = true;
      return stoppable.script.runInContext(stoppable.context, { timeout }) as T;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const { user, system } = process.threadCpuUsage(before);
      if ((user + system) / 1000 < timeout / 2 && tries < maxTries) continue;
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "schema",
        problem: "has a pattern, or references, that take too long",
      });
    } finally {
      isWatching = false;
    }
  }
}

const join = (path: string, name: string) => (path === "" ? name : `${path}.${name}`);

/** Copies a JSON document, dropping `__proto__` keys. Validation fills defaults into the copy. */
export function copyJson<T extends JsonValue>(document: T): T {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === "__proto__" ? undefined : value,
  );
}
