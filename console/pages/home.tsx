import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, ask } from "../api/client.ts";
import { serverNowMs } from "../api/clock.ts";
import type { schemas } from "../api/schema.ts";
import { usePending } from "../model/approvals.ts";
import { useConnectors, useCredentials, useEndpoints, usePipelines } from "../model/queries.ts";
import { useActivations } from "../model/reverse-etl.ts";
import { pauseWords } from "../model/schema-changes.ts";
import { clipped, count, scheduleWords } from "../model/words.ts";
import { ApprovalRows } from "../parts/approval-rows.tsx";
import { DayChart } from "../parts/day-chart.tsx";
import { Head } from "../parts/head.tsx";
import { useJobName } from "../parts/job-rows.tsx";
import { useMe } from "../parts/me.tsx";
import { Row } from "../parts/row.tsx";
import { Loaded } from "../parts/states.tsx";
import { ActivationStatus, Ago, Due, JobStatus, PipelineStatus, Status } from "../parts/status.tsx";

type Pipeline = schemas["Pipeline"];

const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The overview: work that waits for somebody, running jobs, and how fresh everything is. */
export default function Home() {
  const pipelines = usePipelines();
  return (
    <>
      <Head title="Home" />
      <Loaded query={pipelines}>
        {(all) =>
          all.length === 0 ? (
            <div className="stack">
              <WaitingForMe />
              <FirstSteps />
            </div>
          ) : (
            <div className="stack">
              <WaitingForMe />
              <Attention all={all} />
              <Logins />
              <div className="columns">
                <Rows />
                <Running />
              </div>
              <Freshness all={all} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

/** An empty workspace: the way to the first rows. */
function FirstSteps() {
  const { mayWrite } = useMe();
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  // The catalogue is what comes next, and a server that has just begun asks each connector first.
  useConnectors();
  const hasSource = (sources.data?.length ?? 0) > 0;
  const hasDestination = (destinations.data?.length ?? 0) > 0;
  const steps = [
    {
      title: "Add a source",
      text: "Where rows are read: a database, or an account of an application.",
      to: "/sources/new",
      isDone: hasSource,
    },
    {
      title: "Add a destination",
      text: "Where rows go. DuckDB is a file beside the server and needs nothing.",
      to: "/destinations/new",
      isDone: hasDestination,
    },
    {
      title: "Create a pipeline",
      text: "Choose the streams, and when they are read.",
      to: "/pipelines/new",
      isDone: false,
    },
  ];
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <section className="panel">
      <h2>From nothing to rows</h2>
      <ol className="steps">
        {steps.map((step, index) => (
          <li key={step.to} className="card">
            <span className="dim">{step.isDone ? "Done" : `Step ${index + 1}`}</span>
            <span className="name">{step.title}</span>
            <span className="dim grow">{step.text}</span>
            {mayWrite && !step.isDone ? (
              <div>
                <Button
                  component={Link}
                  href={step.to}
                  variant={step === next ? "filled" : "default"}
                  size="xs"
                  mt="xs"
                >
                  {step.title}
                </Button>
              </div>
            ) : null}
          </li>
        ))}
      </ol>
      {mayWrite ? null : (
        <p className="dim">An editor or an administrator of this workspace sets these up.</p>
      )}
    </section>
  );
}

/** Proposals of others, for who may decide. */
function WaitingForMe() {
  const { mayApprove } = useMe();
  const { data } = usePending(mayApprove);
  if (!data || data.items.length === 0) return null;
  const { items } = data;
  return (
    <section>
      <h2 className="section">Waits for your decision</h2>
      <div className="stack" style={{ gap: "0.6rem" }}>
        <ApprovalRows approvals={items.slice(0, 5)} />
        {items.length > 5 ? <Link href="/approvals">All {count(items.length)}</Link> : null}
      </div>
    </section>
  );
}

/** It failed, waits after a failure, or svc has paused it; nobody has ended it. */
const needs = ({ sync_state: state, last_job: job, pause_reason: reason }: Pipeline) =>
  state === "failed" || (state === "incomplete" && job?.status !== "cancelled") || reason !== null;

const hasFailed = ({ status, lastRunStatus: last }: schemas["ReverseEtlActivation"]) =>
  status !== "paused" && (last === "failed" || last === "interrupted" || last === "warning");

function Attention({ all }: { readonly all: readonly Pipeline[] }) {
  const activations = useActivations();
  const found = all.filter(needs);
  const failed = activations.data?.filter(hasFailed) ?? [];
  if (found.length + failed.length === 0) return null;
  return (
    <section>
      <h2 className="section">Needs you</h2>
      <ul className="rows">
        {found.map((one) => (
          <Row
            key={one.pipeline_id}
            to={
              one.last_job === null || one.pause_reason !== null
                ? `/pipelines/${one.pipeline_id}`
                : `/jobs/${one.last_job.job_id}`
            }
            name={one.name}
            detail={
              one.pause_reason === null
                ? clipped(one.last_job?.failure?.message ?? "Its last job says what went wrong.")
                : `svc has paused it. ${pauseWords(one.pause_reason)}`
            }
            later={one.last_job === null ? null : <Ago at={one.last_job.created_at} />}
            right={<PipelineStatus of={one} />}
          />
        ))}
        {failed.map((one) => (
          <Row
            key={one.activationId}
            to={
              one.lastRunId === null ? `/activations/${one.activationId}` : `/runs/${one.lastRunId}`
            }
            name={one.name}
            about="Reverse ETL"
            detail={clipped(
              one.lastRunError?.message ?? "Its last run names the rows that were refused.",
            )}
            later={one.lastRunAt === null ? null : <Ago at={one.lastRunAt} />}
            right={<ActivationStatus of={one} />}
          />
        ))}
      </ul>
    </section>
  );
}

/** A provider's word for when a token ends is passed on for so long before. */
const soonMs = 14 * 86_400_000;

/** Logins that have ended, or end soon: before a sync fails of it. */
function Logins() {
  const { data = [] } = useCredentials();
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const found = data.filter(
    ({ status, secrets_expire_at: at }) =>
      status === "needs_reauth" || (at !== null && Date.parse(at) - serverNowMs() < soonMs),
  );
  if (found.length === 0) return null;
  const pageOf = (handle: string) => {
    const source = sources.data?.find((one) => one.credentialHandle === handle);
    if (source) return { to: `/sources/${source.id}`, name: source.name };
    const destination = destinations.data?.find((one) => one.credentialHandle === handle);
    return destination && { to: `/destinations/${destination.id}`, name: destination.name };
  };
  return (
    <section>
      <h2 className="section">Logins that end</h2>
      <ul className="rows">
        {found.map(({ credential_id: id, credential_handle: handle, name, status, ...one }) => {
          const page = pageOf(handle);
          const { secrets_expire_at: at } = one;
          return (
            <Row
              key={id}
              to={page?.to ?? "/sources"}
              name={page?.name ?? name}
              detail={
                status === "needs_reauth"
                  ? "Connect it again: its provider refuses it."
                  : "Get new secrets from its provider, and enter them."
              }
              later={
                at === null ? null : (
                  <>
                    Ends <Due at={at} />
                  </>
                )
              }
              right={<Status of={status} />}
            />
          );
        })}
      </ul>
    </section>
  );
}

function Rows() {
  const rows = useQuery({
    queryKey: ["in", "rows-per-day"],
    queryFn: () => ask(api.GET("/rows-per-day", { params: { query: { time_zone: timeZone } } })),
    refetchInterval: 60_000,
  });
  return (
    <section className="panel">
      <h2>Rows written</h2>
      <Loaded query={rows}>{({ days }) => <DayChart days={days} />}</Loaded>
    </section>
  );
}

/** Statuses of jobs that go on by themselves. */
const open = ["running", "queued", "incomplete"] as const;

/** So many are named. */
const few = 10;

function Running() {
  const nameOf = useJobName();
  const jobs = useQuery({
    queryKey: ["in", "jobs", "open"],
    queryFn: async () => {
      const pages = await Promise.all(
        open.map((status) => ask(api.GET("/jobs", { params: { query: { status, limit: few } } }))),
      );
      return pages.flatMap(({ items }) => items);
    },
    refetchInterval: 5_000,
  });
  return (
    <section className="panel">
      <h2>Running now</h2>
      <Loaded query={jobs}>
        {(running) => {
          if (running.length === 0) return <span className="dim">Nothing runs at the moment.</span>;
          return (
            <div className="stack" style={{ gap: "0.7rem" }}>
              {running.slice(0, few).map((job) => (
                <div key={job.job_id} style={{ display: "flex", gap: "0.75rem" }}>
                  <Link href={`/jobs/${job.job_id}`} className="grow">
                    {nameOf(job)}
                  </Link>
                  <JobStatus of={job.status} />
                </div>
              ))}
              {running.length > few ? <Link href="/jobs">More of them</Link> : null}
            </div>
          );
        }}
      </Loaded>
    </section>
  );
}

/** So many are looked over. */
const shown = 50;

function Freshness({ all }: { readonly all: readonly Pipeline[] }) {
  return (
    <section>
      <h2 className="section">Pipelines</h2>
      <ul className="rows">
        {all.slice(0, shown).map((one) => (
          <Row
            key={one.pipeline_id}
            to={`/pipelines/${one.pipeline_id}`}
            name={one.name}
            detail={
              one.last_job?.ended_at && one.last_job.status === "succeeded" ? (
                <>
                  Fresh as of <Ago at={one.last_job.ended_at} />
                </>
              ) : (
                scheduleWords(one.schedule)
              )
            }
            later={
              one.next_run_at === null ? null : (
                <>
                  Next <Due at={one.next_run_at} />
                </>
              )
            }
            right={<PipelineStatus of={one} />}
          />
        ))}
      </ul>
      {all.length > shown ? (
        <p>
          <Link href="/pipelines">All {count(all.length)} pipelines</Link>
        </p>
      ) : null}
    </section>
  );
}
