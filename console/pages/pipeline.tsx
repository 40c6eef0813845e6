import { Alert, Button, Menu, Tabs, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import { serverNowMs } from "../api/clock.ts";
import type { schemas } from "../api/schema.ts";
import { useEndpoints, useJobs } from "../model/queries.ts";
import { pauseWords } from "../model/schema-changes.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { bytes, lasted, moment, plural, scheduleWords, spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Head } from "../parts/head.tsx";
import { JobItems } from "../parts/job-rows.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { ParallelField, PolicyField } from "../parts/pipeline-fields.tsx";
import { PipelineStreams } from "../parts/pipeline-streams.tsx";
import { Tables } from "../parts/pipeline-tables.tsx";
import { ScheduleField } from "../parts/schedule-field.tsx";
import { SchemaChanges } from "../parts/schema-changes.tsx";
import { Loaded } from "../parts/states.tsx";
import { Due, PipelineStatus } from "../parts/status.tsx";
import { StreamRuns } from "../parts/stream-runs.tsx";

type Pipeline = schemas["PipelineWithStreams"];

const up = { to: "/pipelines", label: "Pipelines" };

export default function PipelinePage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "pipelines", id],
    queryFn: () =>
      ask(api.GET("/pipelines/{pipeline_id}", { params: { path: { pipeline_id: id } } })),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={query} before={<Head title="Pipeline" up={up} />}>
      {(pipeline) => (
        <>
          <Head title={pipeline.name} up={up} aside={<PipelineStatus of={pipeline} />}>
            <Actions pipeline={pipeline} />
          </Head>
          <Tabs defaultValue="overview" keepMounted={false}>
            <Tabs.List mb="lg">
              <Tabs.Tab value="overview">Overview</Tabs.Tab>
              <Tabs.Tab value="streams">Streams</Tabs.Tab>
              <Tabs.Tab value="settings">Settings</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="overview">
              <Overview pipeline={pipeline} />
            </Tabs.Panel>
            <Tabs.Panel value="streams">
              <PipelineStreams pipeline={pipeline} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <Settings pipeline={pipeline} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Loaded>
  );
}

interface Of {
  readonly pipeline: Pipeline;
}

function Actions({ pipeline }: Of) {
  const { mayRun, mayWrite } = useMe();
  const { isBusy, act } = useAct();
  const [asks, { open, close }] = useDisclosure(false);
  const [hasStreams, streams] = useDisclosure(false);
  const [, go] = useLocation();
  const queries = useQueryClient();
  if (!mayRun) return null;
  const path = { pipeline_id: pipeline.pipeline_id };
  const isPaused = pipeline.status === "paused";
  const sync = (fullRefresh: boolean) =>
    act(async () => {
      const made = await ask(
        api.POST("/pipelines/{pipeline_id}/sync", {
          params: { path },
          body: fullRefresh ? { full_refresh: true } : {},
        }),
      );
      if (notify.outcome(made, "It has begun.") && !isProposal(made))
        go(`/jobs/${made.job.job_id}`);
      await queries.invalidateQueries({ queryKey: ["in"] });
    });
  const turn = () =>
    act(async () => {
      const asked = isPaused
        ? ask(api.POST("/pipelines/{pipeline_id}/resume", { params: { path } }))
        : ask(api.POST("/pipelines/{pipeline_id}/pause", { params: { path }, body: {} }));
      notify.outcome(await asked, isPaused ? "It goes on." : "It is paused.");
      await queries.invalidateQueries({ queryKey: ["in"] });
    });
  return (
    <>
      {isPaused ? (
        <Button onClick={() => void turn()} loading={isBusy}>
          Resume
        </Button>
      ) : (
        <Button onClick={() => void sync(false)} loading={isBusy}>
          Sync now
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label="More actions">
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {isPaused ? null : (
            <>
              <Menu.Item onClick={() => void sync(true)}>Read everything anew</Menu.Item>
              <Menu.Item onClick={() => void turn()}>Pause</Menu.Item>
            </>
          )}
          <Menu.Item onClick={streams.open}>Read, reset or clear streams…</Menu.Item>
          {mayWrite ? (
            <Menu.Item color="red" onClick={open}>
              Delete
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Delete pipeline={pipeline} isOpen={asks} onClose={close} />
      {hasStreams ? (
        <StreamRuns
          pipelineId={pipeline.pipeline_id}
          streams={pipeline.streams}
          mayDelete={mayWrite}
          onClose={streams.close}
        />
      ) : null}
    </>
  );
}

function Delete({
  pipeline,
  isOpen,
  onClose,
}: Of & { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = async () => {
    const path = { connection_id: pipeline.connection_id };
    const gone = await ask(api.DELETE("/connections/{connection_id}", { params: { path } }));
    if (notify.outcome(gone, `${pipeline.name} was deleted.`)) go("/pipelines");
    await queries.invalidateQueries({ queryKey: ["in", "pipelines"], exact: true });
  };
  return (
    <Confirm
      title={`Delete ${pipeline.name}?`}
      label="Delete"
      isOpen={isOpen}
      onClose={onClose}
      run={remove}
      isDangerous
    >
      <span>Its tables stay in the destination. A job under way ends.</span>
    </Confirm>
  );
}

function Overview({ pipeline }: Of) {
  const jobs = useJobs({ pipeline_id: pipeline.pipeline_id, limit: 30 });
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const { source_id: source, destination_id: destination, next_run_at: next } = pipeline;
  const { pause_reason: reason } = pipeline;
  const changes = <SchemaChanges pipelineId={pipeline.pipeline_id} />;
  const nameOf = (list: typeof sources, id: string) =>
    list.data?.find((one) => one.id === id)?.name ?? "…";
  return (
    <div className="stack">
      {reason === null ? null : (
        <>
          <Alert color="yellow" variant="light" title="svc has paused it">
            {pauseWords(reason)} Resuming accepts what has changed.
          </Alert>
          {changes}
        </>
      )}
      {pipeline.left_at_source.map(({ name, release }) => (
        <Alert
          key={name}
          color="yellow"
          variant="light"
          title={`The source's server still keeps ${name} for it`}
        >
          For a replication slot that nobody reads, a server keeps its log until the disk is full.
          If this pipeline does not go on soon, an administrator of the source runs{" "}
          <code>{release}</code>. Resumed without it, the pipeline reads its tables anew.
        </Alert>
      ))}
      <div className="columns">
        <section className="panel">
          <h2>What it does</h2>
          <dl className="facts">
            <dt>From</dt>
            <dd>
              <Link href={`/sources/${source}`}>{nameOf(sources, source)}</Link>
            </dd>
            <dt>To</dt>
            <dd>
              <Link href={`/destinations/${destination}`}>{nameOf(destinations, destination)}</Link>
            </dd>
            <dt>Reads</dt>
            <dd>{plural(pipeline.stream_count, "stream")}</dd>
            <dt>When</dt>
            <dd>{scheduleWords(pipeline.schedule)}</dd>
            <dt>Next</dt>
            <dd>{next === null ? "When somebody starts it" : <Due at={next} />}</dd>
            {pipeline.replication_lag_bytes === null ? null : (
              <>
                <dt>Log kept</dt>
                <dd>{bytes(pipeline.replication_lag_bytes)} by the source's server</dd>
              </>
            )}
          </dl>
        </section>
        <section className="panel">
          <h2>History</h2>
          <Loaded query={jobs}>
            {({ items }) =>
              items.length === 0 ? (
                <span className="dim">
                  Nothing was read yet. “Sync now” reads it for the first time.
                </span>
              ) : (
                <History jobs={items} />
              )
            }
          </Loaded>
        </section>
      </div>
      {reason === null ? changes : null}
      {jobs.data?.items.some(({ status }) => status === "succeeded") ? (
        <Tables pipeline={pipeline} />
      ) : null}
      {jobs.data && jobs.data.items.length > 0 ? (
        <ul className="rows">
          <JobItems jobs={jobs.data.items} />
        </ul>
      ) : null}
      {jobs.data?.has_more ? (
        <div>
          <Link href={`/jobs/of/${pipeline.pipeline_id}`}>All of its jobs</Link>
        </div>
      ) : null}
    </div>
  );
}

/** One bar for each job, the newest at the right; the longer it took, the higher. */
function History({ jobs }: { readonly jobs: readonly schemas["Job"][] }) {
  const lengthOf = ({ started_at: from, ended_at: to }: schemas["Job"]) =>
    from === null ? 0 : (to === null ? serverNowMs() : Date.parse(to)) - Date.parse(from);
  const longest = Math.max(1, ...jobs.map(lengthOf));
  return (
    <>
      <div className="history">
        {jobs.toReversed().map((job) => {
          const text = `${spoken(job.status)}, ${moment(job.created_at)}${job.started_at === null ? "" : `, ${lasted(job.started_at, job.ended_at)}`}`;
          return (
            <Link
              key={job.job_id}
              href={`/jobs/${job.job_id}`}
              data-status={job.status}
              title={text}
              aria-label={text}
              style={{ height: `${Math.max(12, (100 * lengthOf(job)) / longest)}%` }}
            />
          );
        })}
      </div>
      <p className="dim" style={{ margin: "0.6rem 0 0" }}>
        {jobs.length === 1
          ? "One job so far."
          : `The last ${jobs.length} jobs, the newest at the right: the higher, the longer it took.`}
      </p>
    </>
  );
}

function Settings({ pipeline }: Of) {
  const { mayWrite } = useMe();
  const [name, setName] = useState(pipeline.name);
  const [schedule, setSchedule] = useState(pipeline.schedule);
  const [policy, setPolicy] = useState(pipeline.schema_change_policy);
  const [parallel, setParallel] = useState(pipeline.parallel_streams);
  const queries = useQueryClient();
  const saving = useSaving(pipeline, {
    refresh: () => queries.invalidateQueries({ queryKey: ["in", "pipelines"] }),
    show(from) {
      setName(from.name);
      setSchedule(from.schedule);
      setPolicy(from.schema_change_policy);
      setParallel(from.parallel_streams);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.save(async (from) => {
      const made = await ask(
        api.PATCH("/pipelines/{pipeline_id}", {
          params: { path: { pipeline_id: from.pipeline_id }, header: ifMatch(from) },
          body: { name, schedule, schema_change_policy: policy, parallel_streams: parallel },
        }),
      );
      notify.outcome(made, "Saved.");
      return isProposal(made) ? made : { ...from, ...made };
    });
  };
  return (
    <form className="form panel" noValidate onSubmit={submit}>
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        disabled={!mayWrite}
      />
      <div>
        <div className="section" style={{ marginBottom: "0.5rem" }}>
          When it runs
        </div>
        <ScheduleField
          key={saving.before.version}
          value={schedule}
          onChange={setSchedule}
          isReadOnly={!mayWrite}
          canFollow={
            pipeline.replication_lag_bytes !== null || pipeline.schedule.type === "continuous"
          }
        />
      </div>
      <PolicyField value={policy} onChange={setPolicy} isReadOnly={!mayWrite} />
      <ParallelField value={parallel} onChange={setParallel} isReadOnly={!mayWrite} />
      <SaveProblem saving={saving} shownOf={shownOf} />
      {mayWrite ? (
        <div>
          <Button type="submit" loading={saving.isBusy} disabled={name.trim() === ""}>
            Save
          </Button>
        </div>
      ) : (
        <span className="dim">Only editors and administrators change settings.</span>
      )}
    </form>
  );
}

/** The values in the form of settings. */
const shownOf = (one: Pipeline) => ({
  name: one.name,
  schedule: { ...one.schedule },
  schema_change_policy: one.schema_change_policy,
  parallel_streams: one.parallel_streams,
});
