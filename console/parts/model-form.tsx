/** The form of a model: its query is written and tried before it is saved. */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { api, askNow } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useWork } from "../model/use-work.ts";
import { useMe } from "./me.tsx";
import { RowTable } from "./row-table.tsx";
import { SqlEditor } from "./sql-editor.tsx";
import { ProblemNote } from "./states.tsx";

export interface ModelParts {
  readonly name: string;
  readonly warehouseId: string;
  readonly sql: string;
  /** The column by which a row is known again. */
  readonly key: string;
}

export function ModelForm({
  first,
  isNew,
  known,
  warehouses,
  isBusy,
  faults,
  problem,
  onSave,
}: {
  readonly first: ModelParts;
  /** Over which warehouse it queries is chosen once. */
  readonly isNew: boolean;
  /** The columns of what is saved. */
  readonly known: readonly schemas["Column"][];
  readonly warehouses: readonly { readonly id: string; readonly name: string }[];
  readonly isBusy: boolean;
  readonly faults: Readonly<Record<string, string>>;
  /** The outcome of saving. */
  readonly problem: ReactNode;
  readonly onSave: (parts: ModelParts) => void;
}) {
  const { mayWrite, mayRun } = useMe();
  const [parts, setParts] = useState(first);
  const { name, warehouseId, sql, key } = parts;
  const [columns, setColumns] = useState(known);
  const [preview, setPreview] = useState<schemas["ReverseEtlModelPreview"]>();
  const trial = useWork();
  const set = (change: Partial<ModelParts>) => setParts((before) => ({ ...before, ...change }));
  const attempt = () =>
    trial.run(async () => {
      setPreview(undefined);
      const shown = await askNow(
        api.POST("/reverse-etl/models/preview", {
          body: { warehouseId, queryType: "raw_sql", raw: { sql } },
        }),
      );
      setPreview(shown);
      setColumns(shown.columns);
      if (!shown.columns.some((one) => one.name === key)) set({ key: keyAmong(shown.columns) });
    });
  // Who comes with a query that is written wants to see its rows.
  const begin = useEffectEvent(() => {
    if (isNew && first.sql !== "" && mayRun) void attempt();
  });
  useEffect(() => begin(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(parts);
  };
  const missing = [
    name.trim() === "" ? "a name" : "",
    sql.trim() === "" ? "a query" : "",
    key === "" ? "a key" : "",
  ].filter((one) => one !== "");
  return (
    <form className="stack" noValidate onSubmit={submit}>
      <section className="panel stack">
        <div className="columns">
          <TextInput
            label="Name"
            description="By which its rows are chosen later."
            value={name}
            disabled={!mayWrite}
            onChange={(event) => set({ name: event.currentTarget.value })}
            error={faults.name}
            required
          />
          <NativeSelect
            label="Warehouse"
            description="The destination that is queried."
            value={warehouseId}
            disabled={!isNew || !mayWrite}
            data={warehouses.map((one) => ({ value: one.id, label: one.name }))}
            onChange={(event) => set({ warehouseId: event.currentTarget.value })}
          />
        </div>
        <SqlEditor
          value={sql}
          warehouseId={warehouseId}
          error={faults.sql ?? trial.problem?.fields.sql}
          isReadOnly={!mayWrite}
          onChange={(next) => set({ sql: next })}
          onTry={() => void attempt()}
        />
        {trial.problem === undefined ? null : <ProblemNote error={trial.problem} />}
        {mayRun ? (
          <div>
            <Button
              variant="default"
              loading={trial.isBusy}
              disabled={sql.trim() === ""}
              onClick={() => void attempt()}
            >
              Try it
            </Button>
          </div>
        ) : null}
        {preview === undefined ? null : (
          <>
            <RowTable label="What the query gives" columns={preview.columns} rows={preview.rows} />
            <span className="dim">
              {preview.hasMore
                ? `The first ${preview.rows.length} rows. `
                : preview.rows.length === 1
                  ? "The only row. "
                  : `All ${preview.rows.length} rows. `}
              What is personal or secret is masked here.
            </span>
          </>
        )}
        {columns.length > 0 ? (
          <NativeSelect
            label="Key"
            description="The column by which a row is known again in the next run."
            value={key}
            disabled={!mayWrite}
            data={[
              ...(key === "" ? [{ value: "", label: "Choose…" }] : []),
              ...columns.map((one) => one.name),
            ]}
            onChange={(event) => set({ key: event.currentTarget.value })}
            maw="20rem"
            required
          />
        ) : (
          <span className="dim">Try it: then choose the column that is its key.</span>
        )}
      </section>
      {problem}
      {mayWrite ? (
        <div className="actions">
          <Button type="submit" loading={isBusy} disabled={missing.length > 0}>
            Save
          </Button>
          {missing.length === 0 ? null : (
            <span className="dim">To be saved it still needs {listed(missing)}.</span>
          )}
        </div>
      ) : (
        <span className="dim">Only editors and administrators change models.</span>
      )}
    </form>
  );
}

const listed = (words: readonly string[]): string =>
  new Intl.ListFormat("en", { type: "conjunction" }).format(words);

/** The column that is most likely the key. */
const keyAmong = (columns: readonly { readonly name: string }[]): string =>
  columns.find(({ name }) => /^(id|uuid)$|_id$/.test(name) && !/^_svc_(?!id$)/.test(name))?.name ??
  "";
