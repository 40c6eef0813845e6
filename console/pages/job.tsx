import { Alert, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { usePipelines } from "../model/queries.ts";
import { useJob, type WatchedJob } from "../model/use-job.ts";
import { bytes, count, jobWords, lasted, moment, plural, spoken } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useJobName } from "../parts/job-rows.tsx";
import { Log } from "../parts/log.tsx";
import { LongText } from "../parts/long-text.tsx";
import { useMe } from "../parts/me.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { Numbers } from "../parts/numbers.tsx";
import { Tables } from "../parts/pipeline-tables.tsx";
import { Loading, ProblemNote } from "../parts/states.tsx";
import { Due, JobStatus, Status } from "../parts/status.tsx";

const allJobs = { to: "/jobs", label: "Jobs" };

/** One job: how far it is, what it says, and why it failed. */
export default function JobPage({ id }: { readonly id: string }) {
  const watched = useJob(id);
  const pipelines = usePipelines();
  const nameOf = useJobName();
  const { job, problem } = watched;
  // An answer that says no is not asked for again; any other may be another one next time.
  const again =
    problem && problem.status >= 400 && problem.status < 500 ? undefined : watched.retry;
  if (!job)
    return (
      <>
        <Head title="Job" up={allJobs} />
        {problem ? <ProblemNote error={problem} onRetry={again} /> : <Loading />}
      </>
    );
  const pipeline = pipelines.data?.find((one) => one.pipeline_id === job.pipeline_id);
  const up =
    job.pipeline_id !== null
      ? { to: `/pipelines/${job.pipeline_id}`, label: pipeline?.name ?? "Pipeline" }
      : job.activation_id !== null
        ? { to: `/activations/${job.activation_id}`, label: nameOf(job) }
        : allJobs;
  return (
    <>
      <Head
        title={`${jobWords(job)} of ${moment(job.created_at)}`}
        up={up}
        aside={<JobStatus of={job.status} />}
      >
        <Cancel job={job} />
      </Head>
      <div className="stack">
        {problem ? <ProblemNote error={problem} onRetry={again} /> : null}
        <RunOf job={job} />
        <Failed job={job} />
        {job.status === "succeeded" && pipeline ? <Tables pipeline={pipeline} /> : null}
        <Summary job={job} />
        <Streams {...watched} pipeline={pipeline} said={job.failure?.message} />
        <Attempts {...watched} />
        <Log jobId={job.job_id} lines={watched.log} dropped={watched.dropped} />
      </div>
    </>
  );
}

/** A run of an activation says more of it: what was sent, and which rows were refused. */
function RunOf({
  job: { job_id: id, activation_id: activationId },
}: {
  readonly job: schemas["Job"];
}) {
  const runs = useQuery({
    queryKey: ["in", "runs", "of-job", id],
    queryFn: () =>
      ask(
        api.GET("/reverse-etl/runs", {
          params: { query: { activationId: activationId ?? "", limit: 200 } },
        }),
      ),
    enabled: activationId !== null,
  });
  const run = runs.data?.items.find((one) => one.jobId === id);
  if (activationId === null) return null;
  return (
    <section className="panel">
      {run === undefined ? (
        <Link href={`/activations/${activationId}`}>All runs of this activation</Link>
      ) : (
        <Link href={`/runs/${run.runId}`}>What was sent, and which rows were refused</Link>
      )}
    </section>
  );
}

const isRunning = ({ status }: schemas["Job"]) =>
  status === "pending" || status === "queued" || status === "running" || status === "incomplete";

function Cancel({ job }: { readonly job: schemas["Job"] }) {
  const { mayRun } = useMe();
  const { isBusy, act } = useAct();
  if (!mayRun || !isRunning(job)) return null;
  const cancel = () =>
    act(async () =>
      notify.outcome(
        await ask(api.POST("/jobs/{job_id}/cancel", { params: { path: { job_id: job.job_id } } })),
        "It is being cancelled. Rows that have arrived stay.",
      ),
    );
  return (
    <Button
      variant="default"
      onClick={() => void cancel()}
      loading={isBusy}
      disabled={job.cancel_requested}
    >
      {job.cancel_requested ? "Is being cancelled" : "Cancel"}
    </Button>
  );
}

function Failed({ job }: { readonly job: schemas["Job"] }) {
  const { failure, next_attempt_at: next, pipeline_id: pipelineId } = job;
  if (failure === null) return null;
  const isOver = !isRunning(job);
  return (
    <Alert
      color={isOver ? "red" : "orange"}
      variant="light"
      title={isOver ? "Why it failed" : "An attempt failed"}
      role="alert"
    >
      <div className="stack" style={{ gap: "0.5rem" }}>
        <LongText text={failure.message} />
        {failure.stream === undefined ? null : (
          <span>
            Stream: <bdi>{failure.stream}</bdi>
          </span>
        )}
        <span className="dim">
          {failure.code} · {spoken(failure.origin)}
          {next === null ? null : (
            <>
              {" "}
              · the next attempt begins <Due at={next} />
            </>
          )}
        </span>
        {isOver && failure.type === "auth_error" && pipelineId !== null ? (
          <Mend pipelineId={pipelineId} origin={failure.origin} />
        ) : null}
      </div>
    </Alert>
  );
}

/** Where one mends what the login was refused for. */
function Mend({
  pipelineId,
  origin,
}: {
  readonly pipelineId: string;
  readonly origin: schemas["Failure"]["origin"];
}) {
  const pipelines = usePipelines();
  const pipeline = pipelines.data?.find((one) => one.pipeline_id === pipelineId);
  if (!pipeline) return null;
  return origin === "destination" ? (
    <Link href={`/destinations/${pipeline.destination_id}`}>Open its destination to mend it</Link>
  ) : (
    <Link href={`/sources/${pipeline.source_id}`}>Open its source to mend it</Link>
  );
}

function Summary({ job }: { readonly job: schemas["Job"] }) {
  const facts = [
    ["Rows written", count(job.records_synced)],
    ["Rows read", count(job.records_read)],
    ["Size", bytes(job.bytes_synced)],
    ...(job.replication_lag_bytes === null
      ? []
      : ([["Log kept by the server", bytes(job.replication_lag_bytes)]] as const)),
    ["Time", job.started_at === null ? "Not begun" : lasted(job.started_at, job.ended_at)],
  ] as const;
  return <Numbers facts={facts} />;
}

/** So many are drawn; a job may have thousands. What runs or failed comes first. */
const shown = 200;
const order = ["running", "incomplete", "pending", "complete"] as const;

function Streams({
  job,
  streams,
  pipeline,
  said,
}: WatchedJob & {
  readonly pipeline: schemas["Pipeline"] | undefined;
  /** The message shown for the whole job already. */
  readonly said: string | undefined;
}) {
  if (streams.length === 0)
    return job && isRunning(job) && pipeline ? (
      <section className="panel" aria-live="polite">
        <h2>{plural(pipeline.stream_count, "stream")} to read</h2>
        <span className="dim">
          {job.status === "queued" || job.status === "pending"
            ? "It has not begun yet."
            : job.status === "incomplete"
              ? "It will try again."
              : "The source is asked. Each stream is shown as soon as it is read."}
        </span>
      </section>
    ) : null;
  const done = streams.filter(({ status }) => status === "complete").length;
  const sorted = streams.toSorted(
    (left, right) => order.indexOf(left.status) - order.indexOf(right.status),
  );
  const most = Math.max(1, ...streams.map((one) => one.records_emitted));
  return (
    <section className="panel">
      <h2>
        Streams, {count(done)} of {count(streams.length)} done
      </h2>
      <div
        className="meter"
        role="progressbar"
        aria-label="Streams that are done"
        aria-valuemin={0}
        aria-valuemax={streams.length}
        aria-valuenow={done}
        style={{ marginBottom: "1rem" }}
      >
        <div style={{ width: `${(100 * done) / streams.length}%` }} />
      </div>
      <div className="stack" style={{ gap: "0.7rem" }}>
        {sorted.slice(0, shown).map((one) => (
          <div
            key={JSON.stringify([one.namespace, one.name])}
            className="stack"
            style={{ gap: "0.2rem" }}
          >
            <div className="stream-line">
              <bdi className="name">{one.name}</bdi>
              <span className="dim">{plural(one.records_committed, "row")}</span>
              <Status
                of={one.status}
                said={one.status === "incomplete" ? "Not finished" : undefined}
              />
            </div>
            {one.status === "running" ? (
              <div className="meter" aria-hidden="true">
                <div style={{ width: `${(100 * one.records_committed) / most}%` }} />
              </div>
            ) : null}
            {one.failure === null || one.failure.message === said ? null : (
              <span style={{ color: "var(--mantine-color-error)", overflowWrap: "anywhere" }}>
                <LongText text={one.failure.message} />
              </span>
            )}
          </div>
        ))}
        {sorted.length > shown ? (
          <span className="dim">And {count(sorted.length - shown)} more.</span>
        ) : null}
      </div>
    </section>
  );
}

function Attempts({ attempts }: WatchedJob) {
  if (attempts.length < 2) return null;
  return (
    <section className="panel">
      <h2>Attempts</h2>
      <div className="stack" style={{ gap: "0.7rem" }}>
        {attempts.map((one) => (
          <div key={one.attempt}>
            <div style={{ display: "flex", gap: "0.75rem", alignItems: "baseline" }}>
              <span className="name">{one.attempt}</span>
              <span className="dim grow">
                {moment(one.started_at)} · {lasted(one.started_at, one.ended_at)} ·{" "}
                {plural(one.records_committed, "row")}
              </span>
              <Status of={one.status} />
            </div>
            {one.failure === null ? null : <LongText text={one.failure.message} />}
          </div>
        ))}
      </div>
    </section>
  );
}
