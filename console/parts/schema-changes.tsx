/** The changes at a pipeline's source, as its jobs have found them. */
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import { limit } from "../model/queries.ts";
import { changeWords } from "../model/schema-changes.ts";
import { count } from "../model/words.ts";
import { Ago } from "./status.tsx";

/**
 * So many findings are shown, and of each so many sentences: a source may have thousands of
 * columns.
 */
const findings = 3;
const few = 20;

export function SchemaChanges({ pipelineId }: { readonly pipelineId: string }) {
  const query = useQuery({
    queryKey: ["in", "events", "schema.changed"],
    queryFn: () =>
      ask(api.GET("/events", { params: { query: { type: "schema.changed", limit } } })),
    // A change that a job has found is published a moment later.
    refetchInterval: 10_000,
  });
  const found = query.data?.items
    .filter(({ data }) => data.pipeline?.pipeline_id === pipelineId)
    .slice(0, findings);
  if (!found || found.length === 0) return null;
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        What has changed at the source
      </h2>
      {found.map(({ event_id: id, timestamp, data: { changes = [], change_count: all = 0 } }) => (
        <div key={id}>
          <span className="dim">
            <Ago at={timestamp} />
          </span>
          <ul className="plain">
            {changes.slice(0, few).map((change) => (
              <li key={JSON.stringify(change)} style={{ overflowWrap: "anywhere" }}>
                <bdi>{changeWords(change)}</bdi>
              </li>
            ))}
          </ul>
          {all > few ? (
            <span className="dim">And {count(all - Math.min(few, changes.length))} more.</span>
          ) : null}
        </div>
      ))}
    </section>
  );
}
