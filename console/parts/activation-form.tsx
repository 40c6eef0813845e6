/** The form of an activation, tried out while it is filled in: nothing is sent. */
import { Alert, Button, Loader, NativeSelect, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { api, askNow } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { operations, rowWords } from "../model/reverse-etl.ts";
import { type Mapping, MappingFields } from "./mapping-fields.tsx";
import { useMe } from "./me.tsx";
import { RowTable } from "./row-table.tsx";
import { ScheduleField } from "./schedule-field.tsx";
import { ProblemNote } from "./states.tsx";

export interface ActivationParts {
  readonly name: string;
  readonly modelId: string;
  readonly destinationId: string;
  readonly object: string;
  readonly operation: schemas["RowOperation"];
  readonly mappings: readonly Mapping[];
  readonly schedule: schemas["Schedule"];
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

const usePrepared = (parts: ActivationParts, isChosen: boolean, isEnabled: boolean) => {
  const { modelId, destinationId, object, operation, mappings } = parts;
  const body = {
    modelId,
    destinationId,
    ...(object === "" ? {} : { object }),
    ...(isChosen ? { operation, mappings: [...mappings] } : {}),
  };
  const [asked] = useDebouncedValue(body, 600);
  return useQuery({
    queryKey: ["in", "reverse-prepare", asked],
    queryFn: () => askNow(api.POST("/reverse-etl/prepare", { body: asked })),
    enabled: isEnabled && asked.modelId !== "" && asked.destinationId !== "",
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    staleTime: 60_000,
    retry: false,
  });
};

export function ActivationForm({
  first,
  isNew,
  models,
  receivers,
  label,
  problem,
  isBusy,
  onSave,
}: {
  readonly first: ActivationParts;
  /** Whether model and receiver can still be chosen. */
  readonly isNew: boolean;
  readonly models: readonly Choice[];
  readonly receivers: readonly Choice[];
  readonly label: string;
  /** The outcome of saving. */
  readonly problem: ReactNode;
  readonly isBusy: boolean;
  readonly onSave: (parts: ActivationParts) => void;
}) {
  const { mayWrite, mayRun } = useMe();
  const [parts, setParts] = useState(first);
  // Until somebody chooses, what the API suggests is taken.
  const [isChosen, setChosen] = useState(!isNew);
  const prepared = usePrepared(parts, isChosen, mayRun);
  const { data } = prepared;
  const set = (change: Partial<ActivationParts>) =>
    setParts((before) => ({ ...before, ...change }));
  const choose = (change: Partial<ActivationParts>) => {
    setChosen(true);
    set(change);
  };
  useEffect(() => {
    if (!data || isChosen) return;
    setParts((before) => ({
      ...before,
      object: before.object === "" ? (data.objects[0]?.name ?? "") : before.object,
      operation: data.operation,
      mappings: data.mappings,
    }));
  }, [data, isChosen]);
  const issues = data?.issues ?? [];
  const faults = Object.fromEntries(issues.map(({ path, message }) => [path, message]));
  const others = issues.filter(({ path }) => !/^(mappings|object)/.test(path));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave(parts);
  };
  const isReady = parts.name.trim() !== "" && parts.object !== "" && parts.mappings.length > 0;
  return (
    <form className="stack" noValidate onSubmit={submit}>
      <section className="panel stack">
        <TextInput
          label="Name"
          value={parts.name}
          disabled={!mayWrite}
          onChange={(event) => set({ name: event.currentTarget.value })}
          maw="32rem"
          required
        />
        <div className="columns three">
          <NativeSelect
            label="Rows of"
            value={parts.modelId}
            data={[...models]}
            disabled={!isNew}
            onChange={(event) => {
              setChosen(false);
              set({ modelId: event.currentTarget.value });
            }}
          />
          <NativeSelect
            label="To"
            value={parts.destinationId}
            data={[...receivers]}
            disabled={!isNew}
            onChange={(event) => {
              setChosen(false);
              set({ destinationId: event.currentTarget.value, object: "" });
            }}
          />
          <NativeSelect
            label="Table, list or kind there"
            value={parts.object}
            disabled={!mayWrite}
            error={faults.object}
            data={objectsOf(parts.object, data?.objects ?? [])}
            onChange={(event) => {
              if (isNew) setChosen(false);
              set({ object: event.currentTarget.value });
            }}
          />
        </div>
        <NativeSelect
          label="What is done"
          value={parts.operation}
          disabled={!mayWrite}
          data={Object.entries(operations).map(([value, text]) => ({ value, label: text }))}
          onChange={(event) =>
            choose({ operation: event.currentTarget.value as schemas["RowOperation"] })
          }
          maw="32rem"
        />
        {parts.mappings.length === 0 && prepared.isFetching ? (
          <span className="dim" aria-live="polite">
            <Loader size="xs" aria-hidden="true" /> The warehouse and the receiver are asked.
          </span>
        ) : (
          <MappingFields
            mappings={parts.mappings}
            columns={data?.columns.map(({ name }) => name) ?? []}
            fields={data?.destinationFields ?? []}
            faults={faults}
            hasIdentifier={parts.operation !== "append"}
            isReadOnly={!mayWrite}
            onChange={(mappings) => choose({ mappings })}
          />
        )}
        <div>
          <div className="section" style={{ marginBottom: "0.5rem" }}>
            When it runs
          </div>
          <ScheduleField
            value={parts.schedule}
            isReadOnly={!mayWrite}
            onChange={(schedule) => set({ schedule })}
          />
        </div>
      </section>
      {others.length === 0 ? null : (
        <Alert color="orange" variant="light" title="It would not work yet">
          {others.map(({ path, message }) => (
            <div key={path}>
              <code>{path}</code> {message}
            </div>
          ))}
        </Alert>
      )}
      {prepared.isError ? (
        <ProblemNote error={toProblem(prepared.error)} onRetry={() => void prepared.refetch()} />
      ) : null}
      {data ? (
        <section className="panel stack" style={{ gap: "0.75rem" }}>
          <h2 className="section" style={{ margin: 0 }}>
            What the next run would send
          </h2>
          <span>{rowWords(data.preview.plannedRows)}</span>
          <RowTable
            label="Rows that would be sent"
            columns={data.preview.fields.map((name) => ({ name }))}
            rows={data.preview.rows}
          />
          <span className="dim">
            At most ten rows. What is personal or secret is masked here. Nothing was sent.
          </span>
        </section>
      ) : null}
      {problem}
      {mayWrite ? (
        <div>
          <Button
            type="submit"
            loading={isBusy}
            disabled={!isReady || (data !== undefined && !data.valid)}
          >
            {label}
          </Button>
        </div>
      ) : (
        <span className="dim">Only editors and administrators change activations.</span>
      )}
    </form>
  );
}

function objectsOf(chosen: string, objects: readonly { readonly name: string }[]): string[] {
  const names = objects.map(({ name }) => name);
  return names.includes(chosen) ? names : [chosen, ...names];
}
