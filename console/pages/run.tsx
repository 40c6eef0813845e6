import { Alert, Button } from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { isRunOpen, rowWords, sumOf } from "../model/reverse-etl.ts";
import { count, lasted, moment, plural, spoken } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { Loaded, Loading, ProblemNote } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";
import { tell } from "../parts/tell.ts";

type Run = schemas["ReverseEtlRun"];

/** One run: how far it is, what came through, and which rows were refused. */
export default function RunPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "runs", id],
    queryFn: () => ask(api.GET("/reverse-etl/runs/{runId}", { params: { path: { runId: id } } })),
    refetchInterval: ({ state: { data } }) => (data && !isRunOpen(data) ? false : 1_000),
  });
  return (
    <Loaded query={query}>
      {(run) => (
        <>
          <Head
            title={`${run.dryRun ? "Comparison" : "Run"} of ${moment(run.createdAt)}`}
            up={{ to: `/activations/${run.activationId}`, label: "Activation" }}
            aside={<Status of={run.status} />}
          >
            <Cancel run={run} />
          </Head>
          <div className="stack">
            {run.error === null ? null : (
              <Alert color="red" variant="light" title="Why it failed" role="alert">
                {run.error.message}
              </Alert>
            )}
            <Numbers run={run} />
            {sumOf(run.failedRows) > 0 ? <Refused run={run} /> : null}
          </div>
        </>
      )}
    </Loaded>
  );
}

function Cancel({ run }: { readonly run: Run }) {
  const { mayRun } = useMe();
  const queries = useQueryClient();
  if (!mayRun || !isRunOpen(run)) return null;
  const cancel = async () => {
    try {
      const made = await ask(
        api.POST("/reverse-etl/runs/{runId}/cancel", { params: { path: { runId: run.runId } } }),
      );
      tell.outcome(made, "It is cancelled. Rows that were sent stay.");
    } catch (error) {
      tell.problem(error);
    } finally {
      await queries.invalidateQueries({ queryKey: ["in", "runs"] });
    }
  };
  return (
    <Button variant="default" onClick={() => void cancel()}>
      Cancel
    </Button>
  );
}

function Numbers({ run }: { readonly run: Run }) {
  const facts = [
    ["Rows of the model", run.querySize === null ? "…" : count(run.querySize)],
    [run.dryRun ? "Would be sent" : "To be sent", count(sumOf(run.plannedRows))],
    ...(run.dryRun
      ? []
      : [
          ["Sent", count(sumOf(run.successfulRows))],
          ["Refused", count(sumOf(run.failedRows))],
        ]),
    ["Time", run.startedAt === null ? "Not begun" : lasted(run.startedAt, run.finishedAt)],
  ] as const;
  return (
    <>
      <div className="cards" style={{ gridTemplateColumns: "repeat(auto-fit, minmax(9rem, 1fr))" }}>
        {facts.map(([name, value]) => (
          <div key={name} className="panel" style={{ padding: "0.9rem 1.1rem" }}>
            <div className="dim">{name}</div>
            <div className="big">{value}</div>
          </div>
        ))}
      </div>
      <span className="dim">
        {run.querySize === null
          ? ""
          : `The difference to what is there: ${rowWords(run.plannedRows)}.`}
        {run.dryRun ? " Nothing was sent." : ""}
      </span>
    </>
  );
}

function Refused({ run }: { readonly run: Run }) {
  const [seen, setSeen] = useState(50);
  const query = useInfiniteQuery({
    queryKey: ["in", "refused", run.runId, isRunOpen(run)],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/reverse-etl/runs/{runId}/failed-rows", {
          params: { path: { runId: run.runId }, query: { limit: 100, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
  const rows = query.data?.pages.flatMap(({ items }) => items) ?? [];
  const more = async () => {
    setSeen(seen + 100);
    if (seen + 100 > rows.length && query.hasNextPage) await query.fetchNextPage();
  };
  return (
    <section className="panel stack" style={{ gap: "0.9rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Refused rows
      </h2>
      <span className="dim">
        They are tried again by the next run. {plural(sumOf(run.failedRows), "row")} in all.
      </span>
      {query.isPending ? <Loading /> : null}
      {query.isError ? (
        <ProblemNote error={query.error} onRetry={() => void query.refetch()} />
      ) : null}
      <ul className="plain">
        {rows.slice(0, seen).map((row) => (
          <li key={`${row.key} ${row.change} ${row.reason}`} className="line">
            <bdi className="name">{row.key}</bdi>
            <span>
              {spoken(row.reason)}: {row.message}
            </span>
            <span className="dim">{row.change}</span>
          </li>
        ))}
      </ul>
      {rows.length > seen || query.hasNextPage ? (
        <div>
          <Button size="xs" variant="default" onClick={() => void more()}>
            Show more
          </Button>
        </div>
      ) : null}
    </section>
  );
}
