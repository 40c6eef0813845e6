import { TextInput, UnstyledButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, askNow } from "../api/client.ts";
import { toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { limit, usePipelines } from "../model/queries.ts";
import { count } from "../model/words.ts";
import { useMe } from "./me.tsx";

const few = 100;

/** A name as SQL takes it. */
const quoted = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/** A table as SQL names it. */
export const tableName = ({ schema, name }: schemas["PipelineStream"]["table"]): string =>
  [schema, name]
    .filter((one) => one !== null)
    .map(quoted)
    .join(".");

/** Tables that pipelines write into a warehouse. Choosing one puts its name into the query. */
export function Tables({
  warehouseId,
  onChoose,
}: {
  readonly warehouseId: string;
  readonly onChoose: (name: string) => void;
}) {
  const [search, setSearch] = useState("");
  const pipelines = usePipelines();
  const ids = (pipelines.data ?? [])
    .filter(({ destination_id: id }) => id === warehouseId)
    .map(({ pipeline_id: id }) => id);
  const tables = useQuery({
    queryKey: ["in", "tables", ids],
    queryFn: async () => {
      const pages = await Promise.all(
        ids.map((id) =>
          ask(
            api.GET("/pipelines/{pipeline_id}/streams", {
              params: { path: { pipeline_id: id }, query: { limit } },
            }),
          ),
        ),
      );
      const names = pages.flatMap(({ items }) => items.map(({ table }) => tableName(table)));
      return [...new Set(names)].sort();
    },
    enabled: ids.length > 0,
    staleTime: 60_000,
  });
  const all = tables.data ?? [];
  const found = all.filter((one) => one.toLowerCase().includes(search.trim().toLowerCase()));
  return (
    <section aria-label="Tables of the warehouse">
      <div className="section" style={{ marginBottom: 0 }}>
        Tables
      </div>
      <p className="dim" style={{ margin: "0 0 0.35rem" }}>
        Choose one, or a column, to put its name into the query.
      </p>
      {all.length === 0 ? (
        <span className="dim">
          {tables.isLoading ? "…" : "No pipeline writes into this warehouse yet."}
        </span>
      ) : (
        <div className="stack" style={{ gap: "0.5rem" }}>
          {all.length > 12 ? (
            <TextInput
              aria-label="Search tables"
              placeholder="Search"
              size="xs"
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
          ) : null}
          <div className="tables">
            {found.slice(0, few).map((name) => (
              <Table key={name} name={name} warehouseId={warehouseId} onChoose={onChoose} />
            ))}
          </div>
          {found.length > few ? (
            <span className="dim">And {count(found.length - few)} more: search.</span>
          ) : null}
        </div>
      )}
    </section>
  );
}

/** A table, and its columns where somebody wants to see them. */
function Table({
  name,
  warehouseId,
  onChoose,
}: {
  readonly name: string;
  readonly warehouseId: string;
  readonly onChoose: (name: string) => void;
}) {
  const { mayRun } = useMe();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <span className="table-name">
        {mayRun ? (
          <UnstyledButton
            className="fold"
            aria-label={`Columns of ${name}`}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? "▾" : "▸"}
          </UnstyledButton>
        ) : null}
        <UnstyledButton
          className="nav"
          aria-label={`Insert ${name}`}
          onClick={() => onChoose(name)}
        >
          <bdi className="text">{name}</bdi>
        </UnstyledButton>
      </span>
      {isOpen ? <Columns table={name} warehouseId={warehouseId} onChoose={onChoose} /> : null}
    </>
  );
}

function Columns({
  table,
  warehouseId,
  onChoose,
}: {
  readonly table: string;
  readonly warehouseId: string;
  readonly onChoose: (name: string) => void;
}) {
  const columns = useQuery({
    queryKey: ["in", "columns", warehouseId, table],
    queryFn: () =>
      askNow(
        api.POST("/reverse-etl/models/preview", {
          body: {
            warehouseId,
            queryType: "raw_sql",
            raw: { sql: `SELECT * FROM ${table} LIMIT 0` },
          },
        }),
      ),
    staleTime: 60_000,
    retry: false,
  });
  if (columns.isPending) return <span className="dim columns-of">…</span>;
  if (columns.isError)
    return <span className="wrong columns-of">{toProblem(columns.error).message}</span>;
  return (
    <div className="columns-of">
      {columns.data.columns.map(({ name, type }) => (
        <UnstyledButton
          key={name}
          className="nav"
          aria-label={`Insert ${name} ${type.toLowerCase()}`}
          onClick={() => onChoose(quoted(name))}
        >
          <bdi className="text">{name}</bdi> <span className="dim">{type.toLowerCase()}</span>
        </UnstyledButton>
      ))}
    </div>
  );
}
