import { Alert, Button } from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { isRunOpen, rowWords, sumOf, useActivations } from "../model/reverse-etl.ts";
import { count, lasted, moment, plural, spoken } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { LongText } from "../parts/long-text.tsx";
import { useMe } from "../parts/me.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { Numbers } from "../parts/numbers.tsx";
import { byPage, PagedRows } from "../parts/paged-rows.tsx";
import { Loaded } from "../parts/states.tsx";
import { Status } from "../parts/status.tsx";

type Run = schemas["ReverseEtlRun"];

/** One run: how far it is, what came through, and which rows were refused. */
export default function RunPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "runs", id],
    queryFn: () => ask(api.GET("/reverse-etl/runs/{runId}", { params: { path: { runId: id } } })),
    refetchInterval: ({ state: { data } }) => (data && !isRunOpen(data) ? false : 1_000),
  });
  const activations = useActivations();
  return (
    <Loaded
      query={query}
      before={<Head title="Run" up={{ to: "/activations", label: "Reverse ETL" }} />}
    >
      {(run) => (
        <>
          <Head
            title={`${run.dryRun ? "Comparison" : "Run"} of ${moment(run.createdAt)}`}
            up={{
              to: `/activations/${run.activationId}`,
              label:
                activations.data?.find((one) => one.activationId === run.activationId)?.name ??
                "Activation",
            }}
            aside={<Status of={run.status} />}
          >
            <Cancel run={run} />
          </Head>
          <div className="stack">
            {run.error === null ? null : (
              <Alert color="red" variant="light" title="Why it failed" role="alert">
                <LongText text={run.error.message} />
              </Alert>
            )}
            <Summary run={run} />
            {sumOf(run.failedRows) > 0 ? <Refused run={run} /> : null}
          </div>
        </>
      )}
    </Loaded>
  );
}

function Cancel({ run }: { readonly run: Run }) {
  const { mayRun } = useMe();
  const { isBusy, act } = useAct();
  const queries = useQueryClient();
  if (!mayRun || !isRunOpen(run)) return null;
  const cancel = () =>
    act(async () => {
      const made = await ask(
        api.POST("/reverse-etl/runs/{runId}/cancel", { params: { path: { runId: run.runId } } }),
      );
      notify.outcome(made, "It is cancelled. Rows that were sent stay.");
      await queries.invalidateQueries({ queryKey: ["in", "runs"] });
    });
  return (
    <Button variant="default" loading={isBusy} onClick={() => void cancel()}>
      Cancel
    </Button>
  );
}

function Summary({ run }: { readonly run: Run }) {
  const facts = [
    ["Rows of the model", run.querySize === null ? "…" : count(run.querySize)],
    [run.dryRun ? "Would be sent" : "To be sent", count(sumOf(run.plannedRows))],
    ...(run.dryRun
      ? []
      : ([
          ["Sent", count(sumOf(run.successfulRows))],
          ["Refused", count(sumOf(run.failedRows))],
        ] as const)),
    ["Time", run.startedAt === null ? "Not begun" : lasted(run.startedAt, run.finishedAt)],
  ] as const;
  return (
    <>
      <Numbers facts={facts} />
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
  const query = useInfiniteQuery({
    queryKey: ["in", "refused", run.runId, isRunOpen(run)],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/reverse-etl/runs/{runId}/failed-rows", {
          params: { path: { runId: run.runId }, query: { limit: 100, cursor: pageParam } },
        }),
      ),
    ...byPage,
  });
  return (
    <section className="panel stack" style={{ gap: "0.9rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Refused rows
      </h2>
      <span className="dim">
        They are tried again by the next run. {plural(sumOf(run.failedRows), "row")} in all.
      </span>
      <PagedRows query={query} none="None is kept." className="plain">
        {(rows) =>
          rows.map((row) => (
            <li key={`${row.key} ${row.change} ${row.reason}`} className="line">
              <bdi className="name">{row.key}</bdi>
              <span>
                {spoken(row.reason)}: <LongText text={row.message} />
              </span>
              <span className="dim">{row.change}</span>
            </li>
          ))
        }
      </PagedRows>
    </section>
  );
}
