/** The streams of a manifest: those that are always there, and those that depend on the account. */
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";
import { type Component, openComponent } from "./document/component.ts";
import { invalid, Unsupported } from "./document/invalid.ts";
import { compileDynamicStreams } from "./dynamic-streams.ts";
import { clockName, type Scope } from "./expressions/evaluate.ts";
import type { Template } from "./expressions/template.ts";
import type { SchemaFiles } from "./records/schema-files.ts";
import type { Reach } from "./retriever.ts";
import type { ManifestContext } from "./slices/partition.ts";
import { compileStream, type ManifestStream, nameOf } from "./stream.ts";

/** Streams that need what the runtime lacks, and what that is. */
export type Unusable = ReadonlyMap<string, ConnectorError>;

export interface Catalog {
  /** The streams that every account has. */
  readonly always: readonly ManifestStream[];
  readonly unusable: Unusable;
  readonly reaches: readonly Reach[];
  /** True when an account may have more than these, or one of them asks for its schema. */
  readonly isDependent: boolean;
  /** Whether there may be a stream of that name. */
  mayHave(name: string): boolean;
  /** The streams of this account. */
  list(ctx: ManifestContext): AsyncGenerator<ManifestStream>;
  /** Those that a template makes for it. @param template of that name only */
  listDynamic(ctx: ManifestContext, template?: string): AsyncGenerator<ManifestStream>;
  /** @throws STREAM_UNKNOWN · CONNECTOR_INVALID where the runtime lacks what it needs */
  find(ctx: ManifestContext, name: string): Promise<ManifestStream>;
}

interface Conditional {
  readonly condition: Template;
  readonly streams: readonly ManifestStream[];
}

/**
 * Compiles the streams. One that needs something that the runtime lacks cannot be read; the others
 * can.
 * @throws CONNECTOR_INVALID when none can, and for whatever is wrong
 */
export function compileCatalog(root: Component, files: SchemaFiles): Catalog {
  const unusable = new Map<string, ConnectorError>();
  const kept = <T>(name: string, work: () => T): T[] => {
    try {
      return [work()];
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      unusable.set(name, error);
      return [];
    }
  };
  const { code } = root;
  const compile = (value: JsonValue, index: number | string) =>
    kept(nameOf(value, index), () => compileStream(value, index, files, code));
  const always: ManifestStream[] = [];
  const conditional: Conditional[] = [];
  for (const [index, value] of listOf(root.get("streams")).entries())
    if (isJsonObject(value) && value.type === "ConditionalStreams") {
      const part = openComponent(value, `streams.${index}`, ["ConditionalStreams"], code);
      const streams = listOf(part.get("streams"));
      conditional.push({
        condition: part.required("condition", part.template("condition")),
        streams: streams.flatMap((one, inner) => compile(one, `${index}.streams.${inner}`)),
      });
    } else always.push(...compile(value, index));
  const dynamic = root
    .children("dynamic_streams", "DynamicDeclarativeStream")
    .flatMap((part, index) => {
      const name = String(part.get("name") ?? `dynamic_stream_${index}`);
      return kept(name, () => {
        const streams = compileDynamicStreams(part, files);
        // Where its streams may reach is known before there is one.
        const { reach } = compileStream(
          ...([streams.template, `dynamic_streams.${index}`, files, code, true] as const),
        );
        return { ...streams, name, reaches: [reach, streams.reach] };
      });
    });
  const perhaps = conditional.flatMap(({ streams }) => streams);
  const [refusal] = unusable.values();
  if (always.length + perhaps.length + dynamic.length === 0)
    throw refusal ?? invalid("manifest.streams", "must name a stream");

  async function* listDynamic(ctx: ManifestContext, template?: string) {
    for (const { name, list } of dynamic) {
      if (template !== undefined && template !== name) continue;
      for await (const one of list(ctx)) {
        try {
          yield compileStream(one, String(one.name), files, code);
        } catch (error) {
          if (!(error instanceof Unsupported)) throw error;
          const { path, problem } = error.details;
          ctx.log.warn("A stream cannot be read: the runtime lacks what it needs.", {
            stream: String(one.name),
            path: String(path),
            problem: String(problem),
          });
        }
      }
    }
  }
  async function* list(ctx: ManifestContext) {
    yield* always;
    for (const { condition, streams } of conditional)
      if (condition.holds(scopeOf(ctx))) yield* streams;
    yield* listDynamic(ctx);
  }
  const isThere = (name: string) => [...always, ...perhaps].some((stream) => stream.name === name);
  return {
    ...{ always, unusable, list, listDynamic },
    reaches: [
      ...[...always, ...perhaps].map(({ reach }) => reach),
      ...dynamic.flatMap(({ reaches }) => reaches),
    ],
    isDependent:
      perhaps.length + dynamic.length > 0 || always.some(({ discover }) => discover !== undefined),
    mayHave: (name) => unusable.has(name) || isThere(name) || dynamic.length > 0,
    async find(ctx, name) {
      const own = always.find((stream) => stream.name === name);
      if (own) return own;
      for await (const one of list(ctx)) if (one.name === name) return one;
      throw unusable.get(name) ?? new ConnectorError("STREAM_UNKNOWN", { stream: name });
    },
  };
}

const scopeOf = (ctx: ManifestContext): Scope => ({
  config: ctx.config as JsonObject as Scope,
  [clockName]: ctx.clock.now(),
});

const listOf = (value: JsonValue | undefined) => (Array.isArray(value) ? value : []);
