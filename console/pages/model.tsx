import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useEndpoints, usePipelines } from "../model/queries.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { useWork } from "../model/use-work.ts";
import { Delete } from "../parts/delete.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { ModelForm, type ModelParts } from "../parts/model-form.tsx";
import { notify } from "../parts/notify.ts";
import { Empty, Loaded, ProblemNote } from "../parts/states.tsx";

type Model = schemas["ReverseEtlModel"];

const up = { to: "/models", label: "Models" };

const queryOf = ({ sql, key }: ModelParts) => ({
  queryType: "raw_sql" as const,
  raw: { sql },
  primaryKey: key,
});

/** A new model's warehouse: the first into which a pipeline writes. */
function firstWarehouse(
  warehouses: readonly { readonly id: string }[],
  pipelines: readonly schemas["Pipeline"][],
): string {
  const written = new Set(pipelines.map(({ destination_id: id }) => id));
  return (warehouses.find(({ id }) => written.has(id)) ?? warehouses[0])?.id ?? "";
}

/** A query that is written over a warehouse; what is known of it stands there at first. */
export function NewModel({
  warehouse,
  table,
}: {
  readonly warehouse?: string | undefined;
  readonly table?: string | undefined;
}) {
  const destinations = useEndpoints("destination");
  const pipelines = usePipelines();
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const save = (parts: ModelParts) =>
    run(async () => {
      const { name, warehouseId } = parts;
      const made = await ask(
        api.POST("/reverse-etl/models", { body: { name, warehouseId, ...queryOf(parts) } }),
      );
      notify.outcome(made, "Saved. An activation sends its rows.");
      await queries.invalidateQueries({ queryKey: ["in", "models", "list"] });
      go(isProposal(made) ? "/models" : `/models/${made.modelId}`);
    });
  return (
    <>
      <Head title={table === undefined ? "Write a model" : `Rows of ${table}`} up={up} />
      <Loaded query={pipelines}>
        {(writers) => (
          <Loaded query={destinations}>
            {(warehouses) =>
              warehouses.length === 0 ? (
                <Empty
                  title="There is no warehouse yet"
                  text="A model queries what pipelines have written: add a destination first."
                  action={
                    <Button component={Link} href="/destinations/new">
                      Add a destination
                    </Button>
                  }
                />
              ) : (
                <ModelForm
                  isNew
                  first={{
                    name: "",
                    warehouseId: warehouse ?? firstWarehouse(warehouses, writers),
                    sql: table === undefined ? "" : `SELECT *\nFROM ${table}`,
                    key: "",
                  }}
                  known={[]}
                  warehouses={warehouses}
                  isBusy={isBusy}
                  faults={problem?.fields ?? {}}
                  problem={problem === undefined ? null : <ProblemNote error={problem} />}
                  onSave={(parts) => void save(parts)}
                />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

/** A model that exists: its query, tried and changed. */
export function ModelPage({ id }: { readonly id: string }) {
  const { mayWrite } = useMe();
  const destinations = useEndpoints("destination");
  const query = useQuery({
    queryKey: ["in", "models", id],
    queryFn: () =>
      ask(api.GET("/reverse-etl/models/{modelId}", { params: { path: { modelId: id } } })),
  });
  return (
    <Loaded query={query} before={<Head title="Model" up={up} />}>
      {(model) => (
        <>
          <Head title={model.name} up={up}>
            {mayWrite ? (
              <Button
                component={Link}
                href={`/activations/new/${model.modelId}`}
                variant={model.activationIds.length === 0 ? "filled" : "default"}
              >
                Create an activation
              </Button>
            ) : null}
          </Head>
          <div className="stack">
            <Loaded query={destinations}>
              {(warehouses) => <Settings model={model} warehouses={warehouses} />}
            </Loaded>
            <Remove model={model} />
          </div>
        </>
      )}
    </Loaded>
  );
}

const partsOf = (model: Model): ModelParts => ({
  name: model.name,
  warehouseId: model.warehouseId,
  sql: model.raw?.sql ?? (model.table ? `SELECT * FROM ${model.table.name}` : ""),
  key: model.primaryKey,
});

function Settings({
  model,
  warehouses,
}: {
  readonly model: Model;
  readonly warehouses: readonly { readonly id: string; readonly name: string }[];
}) {
  const queries = useQueryClient();
  const [loads, setLoads] = useState(0);
  const saving = useSaving(model, {
    refresh: () => queries.invalidateQueries({ queryKey: ["in", "models"] }),
    show: () => setLoads(loads + 1),
  });
  const { before, problem } = saving;
  const save = (parts: ModelParts) =>
    saving.save(async (from) => {
      const { sql, key } = partsOf(from);
      const isSame = parts.sql === sql && parts.key === key;
      const { name } = parts;
      const made = await ask(
        api.PATCH("/reverse-etl/models/{modelId}", {
          params: { path: { modelId: from.modelId }, header: ifMatch(from) },
          body: isSame ? { name } : { name, ...queryOf(parts) },
        }),
      );
      notify.outcome(made, "Saved. Runs that begin now use it.");
      return made;
    });
  return (
    <ModelForm
      key={loads}
      isNew={false}
      first={partsOf(before)}
      known={before.columns}
      warehouses={warehouses}
      isBusy={saving.isBusy}
      faults={problem?.fields ?? {}}
      problem={<SaveProblem saving={saving} shownOf={shownOf} />}
      onSave={save}
    />
  );
}

/** The values in the form. */
function shownOf(model: Model) {
  const { name, sql, key } = partsOf(model);
  return { name, SQL: sql, key };
}

function Remove({ model }: { readonly model: Model }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/reverse-etl/models/{modelId}", {
        params: { path: { modelId: model.modelId }, header: ifMatch(model) },
      }),
    );
    if (notify.outcome(gone, `${model.name} was deleted.`)) go("/models");
    await queries.invalidateQueries({ queryKey: ["in", "models", "list"] });
  };
  return (
    <Delete name={model.name} label="Delete this model" run={remove}>
      Activations that use it must be deleted first. The warehouse stays as it is.
    </Delete>
  );
}
