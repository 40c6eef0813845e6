/** The streams of a pipeline that exists: what it reads now, and another choice of them. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { prepare } from "../model/prepare.ts";
import { keptOf, keyOf, type Prepared, placeOf, type Selections } from "../model/streams.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { Asking } from "./asking.tsx";
import { useMe } from "./me.tsx";
import { SaveProblem } from "./meanwhile.tsx";
import { notify } from "./notify.ts";
import { ProblemNote } from "./states.tsx";
import { notifyOfNews } from "./stream-news.ts";
import { StreamTable } from "./stream-table.tsx";

type Pipeline = schemas["PipelineWithStreams"];

const pageSize = 200;

/** All of them: a pipeline may have thousands. @throws Problem */
async function streamsOf(id: string): Promise<readonly schemas["PipelineStream"][]> {
  const streams: schemas["PipelineStream"][] = [];
  let cursor: string | undefined;
  do {
    const page = await ask(
      api.GET("/pipelines/{pipeline_id}/streams", {
        params: { path: { pipeline_id: id }, query: { limit: pageSize, cursor } },
      }),
    );
    streams.push(...page.items);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return streams;
}

export function PipelineStreams({ pipeline }: { readonly pipeline: Pipeline }) {
  const { pipeline_id: id, source_id: source, destination_id: destination } = pipeline;
  const { mayRun } = useMe();
  const [loads, setLoads] = useState(0);
  const queries = useQueryClient();
  const key = ["in", "pipelines", id, "choice"];
  const query = useQuery({
    queryKey: key,
    queryFn: async () => {
      // The version first: a change after it is noticed when the choice is saved.
      const path = { pipeline_id: id };
      const { version } = await ask(api.GET("/pipelines/{pipeline_id}", { params: { path } }));
      const [prepared, streams] = await Promise.all([prepare(source, destination), streamsOf(id)]);
      return { prepared, streams, version };
    },
    // A choice that is being made is not taken out of somebody's hands.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
    enabled: mayRun,
  });
  if (!mayRun)
    return (
      <ul className="rows">
        {pipeline.streams.map((one) => (
          <li key={keyOf(one)} className="row">
            <bdi className="name">{one.name}</bdi>
          </li>
        ))}
      </ul>
    );
  if (query.isPending) return <Asking>The source is asked what it has.</Asking>;
  if (query.isError)
    return <ProblemNote error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <Choice
      key={loads}
      pipeline={pipeline}
      {...query.data}
      look={async () => {
        const prepared = await prepare(source, destination, true);
        queries.setQueryData(key, { ...query.data, prepared });
        return prepared;
      }}
      onLoad={() => void query.refetch().then(() => setLoads(loads + 1))}
    />
  );
}

function Choice({
  pipeline,
  prepared,
  streams,
  version,
  look,
  onLoad,
}: {
  readonly pipeline: Pipeline;
  readonly prepared: Prepared;
  readonly streams: readonly schemas["PipelineStream"][];
  readonly version: number;
  /** Asks the source anew. */
  readonly look: () => Promise<Prepared>;
  readonly onLoad: () => void;
}) {
  const { mayWrite } = useMe();
  const [selections, setSelections] = useState<Selections>(
    () => new Map(streams.map(({ table: _, ...one }) => [keyOf(one), one])),
  );
  const queries = useQueryClient();
  const saving = useSaving<Chosen>(pipeline, {
    opened: { version, streams },
    refresh: () =>
      queries.invalidateQueries({
        queryKey: ["in", "pipelines", pipeline.pipeline_id],
        exact: true,
      }),
    show: onLoad,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.save(async (from) => {
      const made = await ask(
        api.PATCH("/pipelines/{pipeline_id}", {
          params: { path: { pipeline_id: pipeline.pipeline_id }, header: ifMatch(from) },
          body: { prepare_id: prepared.prepareId, streams: [...selections.values()] },
        }),
      );
      notify.outcome(made, "Saved. The next job reads what was chosen.");
      return isProposal(made) ? made : { version: made.version, streams: [...selections.values()] };
    });
  };
  return (
    <div className="stack">
      <StreamTable
        prepared={prepared}
        selections={selections}
        onChange={setSelections}
        onLook={async () => {
          const next = await look();
          notifyOfNews(prepared, next);
          setSelections((before) => keptOf(before, next));
        }}
      />
      <form className="stack" onSubmit={submit}>
        <SaveProblem
          saving={saving}
          shownOf={shownOf}
          nameOf={(path) => placeOf(path, [...selections.values()])}
        />
        {mayWrite ? (
          <div className="actions">
            <Button type="submit" loading={saving.isBusy} disabled={selections.size === 0}>
              Save the streams
            </Button>
            <span className="dim">
              A stream with another cursor, mode or key is read from the beginning.
            </span>
          </div>
        ) : null}
      </form>
    </div>
  );
}

interface Chosen {
  readonly version: number;
  readonly streams: readonly schemas["StreamName"][];
}

/** Which streams are read; how, the table shows. */
const shownOf = ({ streams }: Chosen) => ({ chosen: streams.map(({ name }) => name).sort() });
