/**
 * Components that the author of a manifest has written in TypeScript: `components.ts` beside it,
 * found by the last part of a `class_name`. Without that file they are Python, which cannot run
 * here.
 */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { LineCounter, parseDocument, visit } from "yaml";
import { ConnectorError } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/json.ts";
import { componentFileNames } from "../../wire/component-files.ts";
import { invalid, Unsupported } from "../document/invalid.ts";

/** The kinds of component that may be written in TypeScript, and the function that each has. */
export const customTypes = {
  CustomTransformation: "transform",
  CustomRecordFilter: "filter",
  CustomRecordExtractor: "extract",
  CustomPaginationStrategy: "next",
  CustomSchemaLoader: "schema",
  CustomBackoffStrategy: "waitSeconds",
  CustomErrorHandler: "judge",
  CustomPartitionRouter: "parts",
  CustomStateMigration: "migrate",
} as const;
export type CustomType = keyof typeof customTypes;

/** The others, and why they cannot be. */
export const refusedCustomTypes: Readonly<Record<string, string>> = {
  CustomAuthenticator: "requests are signed by the host, and code has no secret to sign with",
  CustomRequester: "where requests go is known before anything runs",
  CustomRetriever: "it would be the whole stream: that is a connector in TypeScript",
  CustomIncrementalSync: "states are Airbyte's own, so that a sync can be moved",
  CustomDecoder: "answers are unpacked and searched by the host",
  CustomConfigTransformation: "settings are as they were given where the host fills them in",
  CustomValidationStrategy: "settings are checked before any code runs",
};

function isFile(path: string): boolean {
  try {
    return lstatSync(path).isFile();
  } catch {
    return false; // what the sandbox cannot read is not there
  }
}

/** A component of the author's own, ready to be asked. */
export interface CustomPart {
  readonly type: CustomType;
  has(name: string): boolean;
  /**
   * Calls one of its functions.
   * @throws CONNECTOR_FAILED with the place in the manifest and in the code
   */
  call(name: string, ...given: readonly unknown[]): unknown;
  /** The error of a component that gives no such thing. */
  wrong(problem: string): ConnectorError;
  /** Runs what it has given to be run later, an iterator for instance, with the same errors. */
  run<T>(work: () => T): T;
}

/** Where components are found that are no part of svc. */
export interface CustomCode {
  /**
   * @param types those that may stand at the place
   * @throws CONNECTOR_INVALID where it cannot run
   */
  find(value: JsonObject, path: string, types: readonly string[]): CustomPart;
}

/** The ways of the worker: how it imports code, and what it tells of an error. */
export interface CodeLoader {
  /** @throws CONNECTOR_INVALID naming `what` when it cannot be imported */
  import(url: string, what: string): Promise<Readonly<Record<string, unknown>>>;
  toError(error: unknown): ConnectorError;
}

/** Loads the module beside a manifest, where the manifest needs one and it is there. */
export async function loadCode(
  manifest: string,
  text: string,
  { import: load, toError }: CodeLoader,
): Promise<CustomCode> {
  const folder = dirname(manifest);
  const file = componentFileNames.find((name) => isFile(join(folder, name)));
  if (file === undefined || !/\bclass_name\b/.test(text)) return noCode;
  const exported = await load(pathToFileURL(join(folder, file)).href, file);
  return {
    find(value, place, types) {
      const { type, name } = identify(value, place, types);
      const at = () => `${place}${lineOf(text, String(value.class_name))}`;
      if (!Object.hasOwn(exported, name))
        throw new Unsupported(at(), `is ${name}, which ${file} does not export`);
      return toPart(exported[name], { type, name, at, file, toError });
    },
  };
}

/** A manifest that is a document alone. */
export const noCode: CustomCode = {
  find(value, place, types) {
    const { name } = identify(value, place, types);
    throw new Unsupported(
      place,
      `is ${name}, a class in Python: components.ts beside the manifest may have it in TypeScript`,
    );
  },
};

/** @throws CONNECTOR_INVALID for a kind that cannot run here, wherever it is written */
function identify({ type, class_name }: JsonObject, place: string, types: readonly string[]) {
  const name = String(class_name).split(".").at(-1)?.slice(0, 100) ?? "";
  const possible = (Object.keys(customTypes) as CustomType[]).filter((one) => types.includes(one));
  const known = possible.find((one) => one === type || (type === undefined && possible[0] === one));
  if (known) return { type: known, name };
  const kind = typeof type === "string" ? type.slice(0, 100) : "component of its own";
  const reason =
    (Object.hasOwn(refusedCustomTypes, kind) ? refusedCustomTypes[kind] : undefined) ??
    (Object.hasOwn(customTypes, kind)
      ? "it cannot stand at this place"
      : "no code of a manifest's own takes its place");
  throw new Unsupported(place, `is ${name}, a ${kind}, which cannot run here: ${reason}`);
}

interface Found {
  readonly type: CustomType;
  readonly name: string;
  /** Its place in the manifest, with the line. */
  readonly at: () => string;
  readonly file: string;
  readonly toError: CodeLoader["toError"];
}

function toPart(exported: unknown, { type, name, at, file, toError }: Found): CustomPart {
  const wanted = customTypes[type];
  const object = exported as Record<string, unknown>;
  const has = (name: string) =>
    typeof exported === "object" && exported !== null && typeof object[name] === "function";
  if (!has(wanted))
    throw invalid(
      at(),
      `is ${name}, which ${file} exports as no ${type}: it must be an object with the function ${wanted}`,
    );
  const fail = (error: unknown): ConnectorError => {
    const failure = toError(error);
    if (failure.code !== "CONNECTOR_FAILED") return failure;
    return new ConnectorError("CONNECTOR_FAILED", { ...failure.details, path: at() });
  };
  const run = <T>(work: () => T): T => {
    try {
      const made = work();
      return made instanceof Promise
        ? (made.catch((error: unknown) => {
            throw fail(error);
          }) as T)
        : made;
    } catch (error) {
      throw fail(error);
    }
  };
  return {
    ...{ type, has, run },
    call: (name, ...given) =>
      run(() => (object[name] as (...given: readonly unknown[]) => unknown)(...given)),
    wrong: (problem) => new ConnectorError("CONNECTOR_PROTOCOL", { problem: `${at()} ${problem}` }),
  };
}

/** The line that names a class, for messages. */
function lineOf(text: string, className: string): string {
  const lines = new LineCounter();
  let offset: number | undefined;
  visit(parseDocument(text, { lineCounter: lines, logLevel: "silent" }), {
    Pair(_, { key, value }) {
      const [name, of] = [key, value] as { value?: unknown; range?: [number] | null }[];
      if (name?.value === "class_name" && of?.value === className) offset ??= of.range?.[0];
    },
  });
  return offset === undefined ? "" : ` (line ${lines.linePos(offset).line})`;
}
