import { Alert, Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { Problem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { prepare } from "../model/prepare.ts";
import { type Endpoint, useEndpoints } from "../model/queries.ts";
import { keptOf, keyOf, type Prepared, placeOf, type Selections } from "../model/streams.ts";
import { useWork } from "../model/use-work.ts";
import { plural } from "../model/words.ts";
import { Asking } from "../parts/asking.tsx";
import { Head } from "../parts/head.tsx";
import { notify } from "../parts/notify.ts";
import {
  type Naming,
  NamingFields,
  namingBody,
  ParallelField,
  PolicyField,
} from "../parts/pipeline-fields.tsx";
import { ScheduleField } from "../parts/schedule-field.tsx";
import { Empty, Loaded, ProblemNote } from "../parts/states.tsx";
import { notifyOfNews } from "../parts/stream-news.ts";
import { StreamTable } from "../parts/stream-table.tsx";

export default function NewPipeline({
  kind,
  id,
}: {
  readonly kind: string | undefined;
  readonly id: string | undefined;
}) {
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  return (
    <>
      <Head title="Create a pipeline" up={{ to: "/pipelines", label: "Pipelines" }} />
      <Loaded query={sources}>
        {(from) => (
          <Loaded query={destinations}>
            {(to) =>
              from.length === 0 || to.length === 0 ? (
                <Missing what={from.length === 0 ? "source" : "destination"} />
              ) : (
                <Choice
                  sources={from}
                  destinations={to}
                  source={kind === "source" ? id : undefined}
                  destination={kind === "destination" ? id : undefined}
                />
              )
            }
          </Loaded>
        )}
      </Loaded>
    </>
  );
}

const Missing = ({ what }: { readonly what: string }) => (
  <Empty
    title={`First a ${what}`}
    text="A pipeline goes from a source to a destination: one of them is still missing."
    action={
      <Button component={Link} href={`/${what}s/new`}>
        Add a {what}
      </Button>
    }
  />
);

function Choice({
  sources,
  destinations,
  ...chosen
}: {
  readonly sources: readonly Endpoint[];
  readonly destinations: readonly Endpoint[];
  readonly source: string | undefined;
  readonly destination: string | undefined;
}) {
  const only = (list: readonly Endpoint[]) => (list.length === 1 ? (list[0]?.id ?? "") : "");
  const [source, setSource] = useState(chosen.source ?? only(sources));
  const [destination, setDestination] = useState(chosen.destination ?? only(destinations));
  const select = (
    label: string,
    list: readonly Endpoint[],
    value: string,
    set: (id: string) => void,
  ) => (
    <NativeSelect
      label={label}
      value={value}
      onChange={(event) => set(event.currentTarget.value)}
      data={[
        ...(value === "" ? [{ value: "", label: "Choose…" }] : []),
        ...list.map((one) => ({ value: one.id, label: one.name })),
      ]}
    />
  );
  return (
    <div className="stack">
      <div className="panel columns">
        {select("From", sources, source, setSource)}
        {select("To", destinations, destination, setDestination)}
      </div>
      {source === "" || destination === "" ? null : (
        <Prepare key={`${source} ${destination}`} source={source} destination={destination} />
      )}
    </div>
  );
}

function Prepare({
  source,
  destination,
}: {
  readonly source: string;
  readonly destination: string;
}) {
  const key = ["in", "prepare", source, destination];
  const queries = useQueryClient();
  const prepared = useQuery({
    queryKey: key,
    queryFn: () => prepare(source, destination),
    staleTime: 1_200_000,
    retry: false,
  });
  if (prepared.isPending) return <Asking>The source is asked what it has.</Asking>;
  if (prepared.isError)
    return <ProblemNote error={prepared.error} onRetry={() => void prepared.refetch()} />;
  const look = async () => {
    const next = await prepare(source, destination, true);
    queries.setQueryData(key, next);
    return next;
  };
  return <Streams source={source} destination={destination} prepared={prepared.data} look={look} />;
}

function Streams({
  source,
  destination,
  prepared,
  look,
}: {
  readonly source: string;
  readonly destination: string;
  readonly prepared: Prepared;
  /** Asks the source anew. */
  readonly look: () => Promise<Prepared>;
}) {
  const [selections, setSelections] = useState<Selections>(() => prepared.suggested);
  const [naming, setNaming] = useState<Naming>({
    prefix: "",
    namespaceDefinition: prepared.namespaceDefinition,
    namespaceFormat: "",
  });
  const [policy, setPolicy] = useState<schemas["SchemaChangePolicy"]>("propagate_columns");
  const [parallel, setParallel] = useState(1);
  const [schedule, setSchedule] = useState<schemas["Schedule"]>({ type: "manual" });
  const [name, setName] = useState("");
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  /** The choice stays; what has come is chosen as it is at first. */
  const lookAgain = async () => {
    const next = await look();
    const { come } = notifyOfNews(prepared, next);
    setSelections((before) => {
      const after = new Map(keptOf(before, next));
      for (const stream of come) {
        const suggested = next.suggested.get(keyOf(stream));
        if (suggested) after.set(keyOf(stream), suggested);
      }
      return after;
    });
  };
  const isTaken = problem?.reason === "table_in_use";
  const create = () =>
    run(async () => {
      const made = await ask(
        api.POST("/pipelines", {
          body: {
            source_id: source,
            destination_id: destination,
            prepare_id: prepared.prepareId,
            streams: [...selections.values()],
            schedule,
            ...namingBody(naming),
            schema_change_policy: policy,
            parallel_streams: parallel,
            ...(name.trim() === "" ? {} : { name: name.trim() }),
          },
        }),
      );
      await queries.invalidateQueries({ queryKey: ["in", "pipelines"] });
      notify.outcome(made, `${"name" in made ? made.name : "The pipeline"} was created.`);
      go(isProposal(made) ? "/pipelines" : `/pipelines/${made.pipeline_id}`);
    });
  return (
    <>
      <section>
        <h2 className="section">Streams</h2>
        <div className="stack">
          {prepared.warnings.map(({ reason, message, stream_count: streams }) => (
            <Alert key={reason} color="yellow" variant="light">
              {message} ({plural(streams, "stream")})
            </Alert>
          ))}
          <StreamTable
            prepared={prepared}
            selections={selections}
            onChange={setSelections}
            onLook={lookAgain}
          />
        </div>
      </section>
      <div className="columns">
        <section className="panel">
          <h2>When</h2>
          <ScheduleField value={schedule} onChange={setSchedule} />
        </section>
        <section className="panel stack" style={{ alignContent: "start" }}>
          <TextInput
            label="Name"
            description="Without one it is called after its source and destination."
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <details className="rules" open={isTaken || undefined}>
            <summary>More</summary>
            <div className="stack">
              <NamingFields
                value={naming}
                stream={[...selections.values()][0]?.name ?? "orders"}
                faults={
                  isTaken
                    ? { prefix: takenWords(problem), ...problem.fields }
                    : (problem?.fields ?? {})
                }
                onChange={setNaming}
              />
              <PolicyField value={policy} onChange={setPolicy} />
              <ParallelField value={parallel} onChange={setParallel} />
            </div>
          </details>
          {problem === undefined ? null : (
            <ProblemNote
              error={problem}
              shown={["prefix", "namespace_format", "namespace_definition"]}
              nameOf={(path) => placeOf(path, [...selections.values()])}
            />
          )}
          <div>
            <Button onClick={() => void create()} loading={isBusy} disabled={selections.size === 0}>
              Create the pipeline
            </Button>
          </div>
          {selections.size === 0 ? <span className="dim">Choose at least one stream.</span> : null}
        </section>
      </div>
    </>
  );
}

/** Which of its tables another pipeline has. */
function takenWords({ details }: Problem): string {
  const { conflicts = [] } = details as {
    readonly conflicts?: readonly { readonly table: string }[];
  };
  const [first, ...others] = conflicts;
  const tables =
    first === undefined
      ? "one of its tables"
      : others.length === 0
        ? first.table
        : `${first.table} and ${plural(others.length, "other table")}`;
  return `Another pipeline writes to ${tables}. With a prefix, this one has tables of its own.`;
}
