import { Button } from "@mantine/core";
import { Link } from "wouter";
import { useEndpoints, usePipelines } from "../model/queries.ts";
import { plural, scheduleWords } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SearchedList } from "../parts/searched-list.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";

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
      <Loaded query={pipelines}>
        {(all) => {
          if (all.length === 0)
            return (
              <Empty
                title="No pipelines yet"
                text="A pipeline reads streams of a source into a destination, by hand or on a schedule."
                action={add}
              />
            );
          return (
            <SearchedList items={all}>
              {(one) => (
                <li key={one.pipeline_id}>
                  <Link href={`/pipelines/${one.pipeline_id}`} className="row">
                    <span>
                      <span className="name">{one.name}</span>
                      <br />
                      <span className="dim">
                        {nameOf(sources, one.source_id)} →{" "}
                        {nameOf(destinations, one.destination_id)}
                      </span>
                    </span>
                    <span className="dim wide">
                      {plural(one.stream_count, "stream")} · {scheduleWords(one.schedule)}
                    </span>
                    <span className="dim later">
                      {one.last_job?.ended_at ? (
                        <>
                          Last ended <Ago at={one.last_job.ended_at} />
                        </>
                      ) : (
                        "Has not run yet"
                      )}
                    </span>
                    <span className="right">
                      <Status of={one.sync_state} />
                    </span>
                  </Link>
                </li>
              )}
            </SearchedList>
          );
        }}
      </Loaded>
    </>
  );
}
