import { Button } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { limit, useEndpoints } from "../model/queries.ts";
import { count } from "../model/words.ts";
import { tableName } from "./warehouse-tables.tsx";

/** So many are named at first. */
const few = 6;

/** Where the rows of a pipeline are, and how one looks at them. */
export function Tables({ pipeline }: { readonly pipeline: schemas["Pipeline"] }) {
  const { pipeline_id: id, destination_id: destinationId, stream_count: all } = pipeline;
  const destinations = useEndpoints("destination");
  const destination = destinations.data?.find((one) => one.id === destinationId);
  const [isAll, setAll] = useState(false);
  const streams = useQuery({
    queryKey: ["in", "tables-of", id, isAll],
    queryFn: () =>
      ask(
        api.GET("/pipelines/{pipeline_id}/streams", {
          params: { path: { pipeline_id: id }, query: { limit: isAll ? limit : few } },
        }),
      ),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  });
  if (!destination || !streams.data) return null;
  const names = streams.data.items.map(({ table }) => tableName(table));
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Where the rows are
      </h2>
      <span>
        In <Link href={`/destinations/${destinationId}`}>{destination.name}</Link>, a table for each
        stream. Choose one to look at its rows:
      </span>
      <div className="buttons">
        {names.map((name) => (
          <Button
            key={name}
            component={Link}
            href={`/models/new/${destinationId}/${encodeURIComponent(name)}`}
            size="xs"
            variant="default"
            ff="monospace"
          >
            {name}
          </Button>
        ))}
        {all > few && !isAll ? (
          <Button size="xs" variant="subtle" onClick={() => setAll(true)}>
            And {count(all - few)} more
          </Button>
        ) : null}
        {isAll && all > names.length && !streams.isPlaceholderData ? (
          <Link href={`/models/new/${destinationId}`}>
            And {count(all - names.length)} more: search them where you write a query
          </Link>
        ) : null}
      </div>
    </section>
  );
}
