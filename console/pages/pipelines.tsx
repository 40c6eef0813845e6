import { Button } from "@mantine/core";
import { Link } from "wouter";
import { useEndpoints, usePipelines } from "../model/queries.ts";
import { plural, scheduleWords } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { NamedList } from "../parts/named-list.tsx";
import { Row } from "../parts/row.tsx";
import { Ago, PipelineStatus } from "../parts/status.tsx";

export default function Pipelines() {
  const { mayWrite } = useMe();
  const pipelines = usePipelines();
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const nameOf = (list: typeof sources, id: string) =>
    list.data?.find((one) => one.id === id)?.name ?? "…";
  const add = mayWrite ? (
    <Button component={Link} href="/pipelines/new">
      Create a pipeline
    </Button>
  ) : null;
  return (
    <>
      <Head title="Pipelines">{pipelines.data?.length ? add : null}</Head>
      <NamedList
        query={pipelines}
        empty={{
          title: "No pipelines yet",
          text: "A pipeline reads streams of a source into a destination, by hand or on a schedule.",
          action: add,
        }}
      >
        {(one) => (
          <Row
            key={one.pipeline_id}
            to={`/pipelines/${one.pipeline_id}`}
            name={one.name}
            about={`${nameOf(sources, one.source_id)} → ${nameOf(destinations, one.destination_id)}`}
            detail={`${plural(one.stream_count, "stream")} · ${scheduleWords(one.schedule)}`}
            later={
              one.last_job?.ended_at ? (
                <>
                  Last ended <Ago at={one.last_job.ended_at} />
                </>
              ) : (
                "Has not run yet"
              )
            }
            right={<PipelineStatus of={one} />}
          />
        )}
      </NamedList>
    </>
  );
}
