import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { api, ask, askNow, isProposal } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { useEndpoints } from "../model/queries.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { RowTable } from "../parts/row-table.tsx";
import { SqlEditor } from "../parts/sql-editor.tsx";
import { Empty, Loaded, ProblemNote } from "../parts/states.tsx";
import { tell } from "../parts/tell.ts";

type Model = schemas["ReverseEtlModel"];

const up = { to: "/activations", label: "Reverse ETL" };

/** One query over a warehouse: written, tried, and saved. */
export default function ModelPage({ id }: { readonly id?: string | undefined }) {
  const destinations = useEndpoints("destination");
  const model = useQuery({
    queryKey: ["in", "models", id],
    queryFn: () =>
      id === undefined
        ? null
        : ask(api.GET("/reverse-etl/models/{modelId}", { params: { path: { modelId: id } } })),
    // What is being written is not taken out of somebody's hands.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  return (
    <Loaded query={model}>
      {(found) => (
        <Loaded query={destinations}>
          {(warehouses) =>
            warehouses.length === 0 ? (
              <>
                <Head title="Write a model" up={up} />
                <Empty
                  title="There is no warehouse yet"
                  text="A model queries what pipelines have written: add a destination first."
                />
              </>
            ) : (
              <Form
                key={model.dataUpdatedAt}
                model={found}
                warehouses={warehouses}
                onReload={() => void model.refetch()}
              />
            )
          }
        </Loaded>
      )}
    </Loaded>
  );
}

const sqlOf = (model: Model | null): string =>
  model?.raw?.sql ?? (model?.table ? `SELECT * FROM ${model.table.name}` : "");

function Form({
  model,
  warehouses,
  onReload,
}: {
  readonly model: Model | null;
  readonly warehouses: readonly { readonly id: string; readonly name: string }[];
  readonly onReload: () => void;
}) {
  const { mayWrite, mayRun } = useMe();
  const [name, setName] = useState(model?.name ?? "");
  const [warehouseId, setWarehouseId] = useState(model?.warehouseId ?? warehouses[0]?.id ?? "");
  const [sql, setSql] = useState(sqlOf(model));
  const [key, setKey] = useState(model?.primaryKey ?? "");
  const [columns, setColumns] = useState<readonly schemas["Column"][]>(model?.columns ?? []);
  const [preview, setPreview] = useState<schemas["ReverseEtlModelPreview"]>();
  const [busy, setBusy] = useState<"try" | "save">();
  const [problem, setProblem] = useState<Problem>();
  const [, go] = useLocation();
  const queries = useQueryClient();

  const attempt = async () => {
    setBusy("try");
    setProblem(undefined);
    try {
      const shown = await askNow(
        api.POST("/reverse-etl/models/preview", {
          body: { warehouseId, queryType: "raw_sql", raw: { sql } },
        }),
      );
      setPreview(shown);
      setColumns(shown.columns);
      if (!shown.columns.some((one) => one.name === key))
        setKey(shown.columns.find((one) => /^(id|uuid)$|_id$/.test(one.name))?.name ?? "");
    } catch (error) {
      setPreview(undefined);
      setProblem(toProblem(error));
    } finally {
      setBusy(undefined);
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy("save");
    setProblem(undefined);
    const query = { queryType: "raw_sql" as const, raw: { sql }, primaryKey: key };
    const isSame = model !== null && sql === sqlOf(model) && key === model.primaryKey;
    try {
      const made =
        model === null
          ? await ask(api.POST("/reverse-etl/models", { body: { name, warehouseId, ...query } }))
          : await ask(
              api.PATCH("/reverse-etl/models/{modelId}", {
                params: {
                  path: { modelId: model.modelId },
                  header: { "If-Match": `"v${model.version}"` },
                },
                body: isSame ? { name } : { name, ...query },
              }),
            );
      tell.outcome(made, "Saved. Runs that begin now use it.");
      await queries.invalidateQueries({ queryKey: ["in", "models", "list"] });
      if (isProposal(made)) go("/activations");
      else if (model === null) go(`/models/${made.modelId}`);
      else onReload();
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(undefined);
    }
  };
  const isReady = name.trim() !== "" && sql.trim() !== "" && key !== "";
  return (
    <>
      <Head title={model?.name ?? "Write a model"} up={up}>
        {model !== null && mayWrite ? <Delete model={model} /> : null}
      </Head>
      <form className="stack" noValidate onSubmit={(event) => void save(event)}>
        <section className="panel stack">
          <div className="columns">
            <TextInput
              label="Name"
              value={name}
              disabled={!mayWrite}
              onChange={(event) => setName(event.currentTarget.value)}
              error={problem?.fields.name}
              required
            />
            <NativeSelect
              label="Warehouse"
              value={warehouseId}
              disabled={model !== null || !mayWrite}
              data={warehouses.map((one) => ({ value: one.id, label: one.name }))}
              onChange={(event) => setWarehouseId(event.currentTarget.value)}
            />
          </div>
          <SqlEditor
            value={sql}
            warehouseId={warehouseId}
            error={problem?.fields.sql}
            isReadOnly={!mayWrite}
            onChange={setSql}
            onTry={() => void attempt()}
          />
          {problem === undefined ? null : (
            <ProblemNote
              error={problem}
              {...(problem.status === 412
                ? { retryLabel: "Load what it is now", onRetry: onReload }
                : {})}
            />
          )}
          {mayRun ? (
            <div>
              <Button
                variant="default"
                loading={busy === "try"}
                disabled={sql.trim() === ""}
                onClick={() => void attempt()}
              >
                Try it
              </Button>
            </div>
          ) : null}
          {preview === undefined ? null : (
            <>
              <RowTable
                label="What the query gives"
                columns={preview.columns}
                rows={preview.rows}
              />
              <span className="dim">
                {preview.hasMore
                  ? `The first ${preview.rows.length} rows. `
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
              onChange={(event) => setKey(event.currentTarget.value)}
              maw="20rem"
              required
            />
          ) : (
            <span className="dim">Try it: then choose the column that is its key.</span>
          )}
        </section>
        {mayWrite ? (
          <div>
            <Button type="submit" loading={busy === "save"} disabled={!isReady}>
              Save
            </Button>
          </div>
        ) : (
          <span className="dim">Only editors and administrators change models.</span>
        )}
      </form>
    </>
  );
}

function Delete({ model }: { readonly model: Model }) {
  const [asks, { open, close }] = useDisclosure(false);
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/reverse-etl/models/{modelId}", {
        params: { path: { modelId: model.modelId }, header: { "If-Match": `"v${model.version}"` } },
      }),
    );
    if (tell.outcome(gone, `${model.name} was deleted.`)) go("/activations");
    await queries.invalidateQueries({ queryKey: ["in", "models", "list"] });
  };
  return (
    <>
      <Button variant="subtle" color="red" onClick={open}>
        Delete
      </Button>
      <Confirm
        title={`Delete ${model.name}?`}
        label="Delete"
        isOpen={asks}
        onClose={close}
        run={remove}
      >
        <span>Activations that use it must be deleted first. The warehouse stays as it is.</span>
      </Confirm>
    </>
  );
}
