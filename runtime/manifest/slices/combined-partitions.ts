/** Routers of other routers' parts: those of several under one name, and several parts as one. */
import { ConnectorError } from "../../contract/errors.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { PlainValue } from "../expressions/values.ts";
import { keyOf, type Partition, type Partitions } from "./partition.ts";

type Compile = (router: Component) => Partitions;

/** Each value once; what else tells its part is at hand for expressions. */
export function compileUnion(union: Component, compile: Compile): Partitions {
  const routers = union
    .children(
      "partition_routers",
      ...(["ListPartitionRouter", "SubstreamPartitionRouter", "GroupingPartitionRouter"] as const),
      "UnionPartitionRouter",
    )
    .map(compile);
  const field = union.get("partition_field");
  if (typeof field !== "string" || field === "")
    throw invalid(union.at("partition_field"), "must name a field");
  return {
    isMany: true,
    open(...given) {
      const runs = routers.map((router) => router.open(...given));
      return {
        async *list() {
          const seen = new Set<string>();
          for (const run of runs)
            for await (const { values, extra } of run.list()) {
              const { [field]: value, ...others } = values;
              if (value === undefined)
                throw invalid(union.at("partition_field"), "is no field of each of the routers");
              const key = keyOf(value);
              if (seen.has(key)) continue;
              seen.add(key);
              yield { values: { [field]: value }, extra: { ...extra, ...others } };
            }
        },
        parentState: () => merged(runs.map((run) => run.parentState())),
      };
    },
    inject() {},
  };
}

const merged = (states: readonly (object | undefined)[]) =>
  states.every((state) => state === undefined) ? undefined : Object.assign({}, ...states);

/** So many parts at a time, each of their values as a list. */
export function compileGrouping(grouping: Component, compile: Compile): Partitions {
  const [router] = grouping
    .children(
      "underlying_partition_router",
      ...(["ListPartitionRouter", "SubstreamPartitionRouter", "UnionPartitionRouter"] as const),
    )
    .map(compile);
  const size = grouping.get("group_size");
  if (typeof size !== "number" || !Number.isInteger(size) || size < 1)
    throw invalid(grouping.at("group_size"), "must be a number of parts");
  const isDistinct = grouping.get("deduplicate") !== false;
  const parts = grouping.required("underlying_partition_router", router);
  return {
    isMany: true,
    open(...given) {
      const run = parts.open(...given);
      return {
        async *list() {
          const seen = new Set<string>();
          let group: Partition[] = [];
          for await (const part of run.list()) {
            const { parent_slice: _, ...own } = part.values;
            const [value, ...others] = Object.values(own);
            if (value === undefined || others.length > 0)
              throw new ConnectorError("CONNECTOR_INVALID", {
                path: grouping.at("underlying_partition_router"),
                problem: "must make parts of one field",
              });
            const key = keyOf(value);
            if (isDistinct && seen.has(key)) continue;
            seen.add(key);
            group.push(part);
            if (group.length < size) continue;
            yield together(group);
            group = [];
          }
          if (group.length > 0) yield together(group);
        },
        parentState: run.parentState,
      };
    },
    inject() {},
  };
}

function together(group: readonly Partition[]): Partition {
  const lists = (of: readonly Partition["values"][]) =>
    Object.fromEntries(
      [...new Set(of.flatMap(Object.keys))].map((name): [string, PlainValue] => [
        name,
        of.map((one) => one[name] ?? null),
      ]),
    );
  return {
    values: lists(group.map(({ values }) => values)),
    extra: lists(group.map(({ extra }) => extra)),
  };
}
