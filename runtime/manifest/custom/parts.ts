/** Parts, schemas and states of a stream by the code of its author. */
import type { CustomParent } from "../../contract/custom-components.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import type { Scope } from "../expressions/evaluate.ts";
import type { ManifestContext, Partitions } from "../slices/partition.ts";
import type { ParentStream } from "../slices/partitions.ts";
import { toPlain, toRecord } from "./plain.ts";
import type { OwnPart } from "./scope.ts";

/** @param openParent compiles a stream on which this one depends */
export function partitionsWith(
  { part, requestScopeOf }: OwnPart,
  router: Component,
  openParent: (stream: Component) => ParentStream,
): Partitions {
  const streams = router
    .children("parent_stream_configs", "ParentStreamConfig")
    .map((one) =>
      openParent(
        one.required("stream", one.child("stream", "DeclarativeStream", "StateDelegatingStream")),
      ),
    );
  return {
    isMany: true,
    open: (ctx, scope) => ({
      async *list() {
        const parents = streams.map(
          (stream): CustomParent => ({
            name: stream.name,
            async *records() {
              for await (const { record } of stream.read(ctx, scope, undefined).records())
                yield record;
            },
          }),
        );
        const given = part.call("parts", { ...requestScopeOf(ctx, scope), parents });
        const items = await part.run(() => iteratorOf(given));
        if (!items) throw part.wrong("gives no parts: it must give a list, or yield them");
        const next = async () => await part.run(async () => await items.next());
        for (let one = await next(); one.done !== true; one = await next())
          yield { values: toRecord(part, one.value), extra: {} };
      },
      parentState: () => undefined,
    }),
    inject() {},
  };
}

type Items = AsyncIterator<unknown> | Iterator<unknown>;

async function iteratorOf(given: unknown): Promise<Items | undefined> {
  const list = await given;
  if (typeof list !== "object" || list === null) return undefined;
  if (Symbol.asyncIterator in list) return (list as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  if (Symbol.iterator in list) return (list as Iterable<unknown>)[Symbol.iterator]();
  return undefined;
}

/** The properties of the schema that it gives for this account. */
export async function propertiesWith(
  { part, requestScopeOf }: OwnPart,
  ctx: ManifestContext,
  scope: Scope,
): Promise<JsonObject> {
  const schema = toPlain(part, await part.call("schema", requestScopeOf(ctx, scope)));
  const { properties } = isJsonObject(schema as JsonObject) ? (schema as JsonObject) : {};
  if (!isJsonObject(properties)) throw part.wrong("gives no schema with properties");
  return properties;
}

export function migrateWith(
  { part, scopeOf }: OwnPart,
  state: JsonObject,
  scope: Scope,
): JsonObject {
  const made = toPlain(part, part.call("migrate", structuredClone(state), scopeOf(scope)));
  if (isJsonObject(made as JsonObject)) return made as JsonObject;
  throw part.wrong("gives a state that is no object");
}
