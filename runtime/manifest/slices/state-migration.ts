/** State migrations: states of another form, such as those from before parts had cursors. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { migrateWith } from "../custom/parts.ts";
import { ownPartOf } from "../custom/scope.ts";
import type { Component } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { routerTypes } from "./partitions.ts";

export type MigrateState = (state: JsonObject, scope: Scope) => JsonObject;

/** One after another, where there is a state. */
export function compileStateMigration(stream: Component, retriever: Component): MigrateState {
  const migrations = stream
    .children("state_migrations", "LegacyToPerPartitionStateMigration", "CustomStateMigration")
    .map((one): MigrateState => {
      const own = ownPartOf(one);
      return own ? (state, scope) => migrateWith(own, state, scope) : legacy(stream, retriever);
    });
  return (state, scope) =>
    Object.keys(state).length === 0
      ? state
      : migrations.reduce((made, migrate) => migrate(made, scope), state);
}

/** `{ "12": { at: … } }` as `{ states: [{ partition: { id: "12" }, cursor: { at: … } }] }`. */
function legacy(stream: Component, retriever: Component): MigrateState {
  const cursor = stream.child("incremental_sync", "DatetimeBasedCursor");
  const [router, ...others] = retriever.children("partition_router", ...routerTypes);
  const isUnion = router?.type === "UnionPartitionRouter";
  const parents = isUnion
    ? []
    : (router?.children("parent_stream_configs", "ParentStreamConfig") ?? []);
  const owner = isUnion ? router : parents[0];
  const field = owner?.template("partition_field");
  const cursorField = cursor?.template("cursor_field");
  if (!router || others.length > 0 || !field || !cursorField)
    throw new Unsupported(
      stream.at("state_migrations"),
      "needs a cursor of time and one router by a parent stream",
    );
  if (parents.length > 1) throw invalid(router.at("parent_stream_configs"), "must name one stream");
  return (state, scope) => {
    const entries = Object.entries(state);
    const name = cursorField.text(scope);
    const isLegacy = ([, one]: [string, JsonValue | undefined]) =>
      isJsonObject(one) && Object.keys(one).length === 1 && Object.hasOwn(one, name);
    if ("states" in state || entries.length === 0 || !entries.every(isLegacy)) return state;
    const key = field.text(scope);
    return {
      states: entries.map(([value, own]) => ({ partition: { [key]: value }, cursor: own ?? {} })),
    };
  };
}
