/**
 * Partition routers: the parts in which a stream is read, one for each value of a list or for each
 * record of another stream, or for each combination of several of these.
 */
import type { JsonObject, JsonValue } from "../../contract/json.ts";
import { partitionsWith } from "../custom/parts.ts";
import { ownPartOf } from "../custom/scope.ts";
import { type Component, compileValue, textsOf } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { isMapping, type PlainValue, truth, valueAt } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import { compileInject } from "../requests/request-option.ts";
import { compileGrouping, compileUnion } from "./combined-partitions.ts";
import type { ManifestContext, Partition, Partitions } from "./partition.ts";

/** A stream that other streams are read by. */
export interface ParentStream {
  readonly name: string;
  /** @param state of it, when it is read incrementally */
  read(ctx: ManifestContext, scope: Scope, state: JsonObject | undefined): ParentRun;
}
export interface ParentRun {
  /** Records by the part and window in which they are read; a part is closed after its last one. */
  records(): AsyncGenerator<{ readonly record: PlainRecord; readonly partition: Scope }>;
  /** The state after the parts that are closed. */
  state(): JsonObject | undefined;
}

/** More than this are no list that somebody wrote down. */
const maxPartitions = 100_000;

/**
 * The parts of a retriever. Where its routers stand in a list, even in one of a single router,
 * their parents are read without a state, and have none in that of the stream.
 * @param openParent compiles a stream of which another depends
 */
export function compilePartitions(
  retriever: Component,
  openParent: (stream: Component) => ParentStream,
): Partitions {
  const isList = Array.isArray(retriever.get("partition_router"));
  const routers = retriever.children("partition_router", ...routerTypes);
  const all = routers.map((router) => compileRouter(router, openParent));
  const [only] = all;
  if (only && all.length === 1 && !isList) return only;
  return {
    isMany: all.length > 0,
    open(ctx, scope) {
      const runs = all.map((one) => one.open(ctx, scope, {}, {}));
      return {
        async *list() {
          // The first changes slowest; the others are wanted again and again.
          const [first, ...rest] = runs;
          let others: Partition[] = [{ values: {}, extra: {} }];
          for (const run of rest) {
            const next: Partition[] = [];
            for await (const part of run.list()) next.push(part);
            if (others.length * next.length > maxPartitions)
              throw invalid("partition_router", `makes more than ${maxPartitions} parts`);
            others = others.flatMap((one) => next.map((other) => combine(one, other)));
          }
          if (!first) return yield* others;
          for await (const part of first.list())
            for (const other of others) yield combine(part, other);
        },
        parentState: () => undefined,
      };
    },
    inject(added, partition, scope) {
      for (const router of all) router.inject(added, partition, scope);
    },
  };
}

export const routerTypes = [
  ...(["ListPartitionRouter", "SubstreamPartitionRouter", "UnionPartitionRouter"] as const),
  ...(["GroupingPartitionRouter", "CustomPartitionRouter"] as const),
] as const;

function compileRouter(
  router: Component,
  openParent: (stream: Component) => ParentStream,
): Partitions {
  const own = ownPartOf(router);
  if (own) return partitionsWith(own, router, openParent);
  if (router.type === "ListPartitionRouter") return compileList(router);
  if (router.type === "SubstreamPartitionRouter") return compileSubstream(router, openParent);
  const compile = (one: Component) => compileRouter(one, openParent);
  return router.type === "UnionPartitionRouter"
    ? compileUnion(router, compile)
    : compileGrouping(router, compile);
}

const combine = (one: Partition, other: Partition): Partition => ({
  values: { ...other.values, ...one.values },
  extra: { ...other.extra, ...one.extra },
});

function compileList(router: Component): Partitions {
  const field = router.required("cursor_field", router.template("cursor_field"));
  const values = compileValue(router.required("values", router.get("values")), router.at("values"));
  const option = router.child("request_option", "RequestOption");
  const inject = option && compileInject(option);
  return {
    isMany: true,
    open: (_, scope) => ({
      async *list() {
        const list = values(scope);
        if (!Array.isArray(list)) throw invalid(router.at("values"), "must give a list");
        if (list.length > maxPartitions)
          throw invalid(router.at("values"), `makes more than ${maxPartitions} parts`);
        const name = field.text(scope);
        for (const value of list) yield { values: { [name]: value }, extra: {} };
      },
      parentState: () => undefined,
    }),
    inject(added, partition, scope) {
      const value = partition[field.text(scope)];
      if (truth(value)) inject?.(added, value, scope);
    },
  };
}

const parentTypes = ["DeclarativeStream", "StateDelegatingStream"] as const;

function compileSubstream(
  router: Component,
  openParent: (stream: Component) => ParentStream,
): Partitions {
  const parents = router.children("parent_stream_configs", "ParentStreamConfig").map((one) => {
    const option = one.child("request_option", "RequestOption");
    const extra = one.get("extra_fields") ?? [];
    if (!Array.isArray(extra)) throw invalid(one.at("extra_fields"), "must be a list of paths");
    return {
      stream: openParent(one.required("stream", one.child("stream", ...parentTypes))),
      key: one.required("parent_key", one.template("parent_key")),
      field: one.required("partition_field", one.template("partition_field")),
      isIncremental: one.get("incremental_dependency") === true,
      inject: option && compileInject(option),
      extra: extra.map((path) =>
        textsOf(path, one.at("extra_fields")).map((step) =>
          compileTemplate(step, one.at("extra_fields")),
        ),
      ),
    };
  });
  if (parents.length === 0) throw invalid(router.at("parent_stream_configs"), "must name a stream");
  return {
    isMany: true,
    open(ctx, scope, parentState, childState) {
      const runs = parents.map((parent) => ({
        ...parent,
        run: parent.stream.read(
          ctx,
          scope,
          parent.isIncremental
            ? stateOfParent(parentState[parent.stream.name], childState)
            : undefined,
        ),
      }));
      return {
        async *list() {
          for (const { key, field, extra, run } of runs) {
            const [path, name] = [key.text(scope), field.text(scope)];
            const fields = extra.map((steps) => steps.map((step) => step.text(scope)));
            for await (const { record, partition } of run.records()) {
              const value = valueAt(
                record,
                path.split("/").filter((step) => step !== ""),
              );
              if (value === undefined || value === null) continue;
              yield {
                values: { [name]: value, parent_slice: partition },
                extra: Object.fromEntries(
                  fields.map((steps) => [steps.join("."), valueAt(record, steps) ?? null]),
                ),
              };
            }
          }
        },
        parentState: () =>
          Object.fromEntries(
            runs
              .filter(({ isIncremental }) => isIncremental)
              .map(({ stream, run }) => [stream.name, run.state() ?? finishedState]),
          ),
      };
    },
    inject(added, partition, scope) {
      for (const { field, inject } of parents) {
        const value = partition[field.text(scope)];
        if (truth(value)) inject?.(added, value, scope);
      }
    },
  };
}

/** Airbyte's state of a stream that has no cursor. */
export const finishedState: JsonObject = { __ab_no_cursor_state_message: true };

/** The state of the parent; a child that has only its own lends it the date where it stands. */
function stateOfParent(
  saved: JsonValue | undefined,
  childState: JsonObject,
): JsonObject | undefined {
  if (isMapping(saved as PlainValue)) return saved as JsonObject;
  const values = Object.values(childState);
  const [value] = values;
  if (values.length !== 1 || typeof value === "object" || value === undefined) return undefined;
  return { "*": value };
}
