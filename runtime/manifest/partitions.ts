/**
 * ListPartitionRouter: one read for each value, or for each combination of the values of several.
 */
import { type Component, compileValue } from "./component.ts";
import { invalid } from "./invalid.ts";
import { type Added, compileInject } from "./requester.ts";
import type { Scope } from "./template.ts";
import type { PlainValue } from "./values.ts";

/** A part of a stream: what its expressions see as `stream_partition`. */
export type Partition = { readonly [field: string]: PlainValue };

export interface Partitions {
  list(scope: Scope): Partition[];
  inject(added: Added, partition: Partition, scope: Scope): void;
}

/** More than this are no list that somebody wrote down. */
const maxPartitions = 100_000;

export function compilePartitions(routers: readonly Component[]): Partitions {
  const all = routers.map((router) => {
    const field = router.required("cursor_field", router.template("cursor_field"));
    const values = compileValue(
      router.required("values", router.get("values")),
      router.at("values"),
    );
    const option = router.child("request_option", "RequestOption");
    const inject = option && compileInject(option);
    return {
      list(scope: Scope) {
        const list = values(scope);
        if (!Array.isArray(list)) throw invalid(router.at("values"), "must give a list");
        const name = field.text(scope);
        return list.map((value): Partition => ({ [name]: value }));
      },
      inject(added: Added, partition: Partition, scope: Scope) {
        inject?.(added, partition[field.text(scope)], scope);
      },
    };
  });
  return {
    list: (scope) =>
      all.reduce<Partition[]>(
        (made, router) => {
          const next = router.list(scope);
          if (made.length * next.length > maxPartitions)
            throw invalid("partition_router", `makes more than ${maxPartitions} parts`);
          return made.flatMap((one) => next.map((other) => ({ ...one, ...other })));
        },
        [{}],
      ),
    inject(added, partition, scope) {
      for (const router of all) router.inject(added, partition, scope);
    },
  };
}
