import { Button } from "@mantine/core";
import { Link } from "wouter";
import {
  type Kind,
  useConnectors,
  useCredentials,
  useEndpoints,
  usePipelines,
} from "../model/queries.ts";
import { clipped } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { NamedList } from "../parts/named-list.tsx";
import { Row } from "../parts/row.tsx";
import { Ago, Status } from "../parts/status.tsx";

const words = {
  source: {
    title: "Sources",
    empty: "No sources yet",
    text: "A source is where rows are read: a database, or an account of an application.",
  },
  destination: {
    title: "Destinations",
    empty: "No destinations yet",
    text: "A destination is where rows go: a warehouse in DuckDB or PostgreSQL.",
  },
} as const;

export default function Endpoints({ kind }: { readonly kind: Kind }) {
  const { mayWrite } = useMe();
  const list = useEndpoints(kind);
  const connectors = useConnectors();
  const { title, empty, text } = words[kind];
  const nameOf = (id: string) =>
    connectors.data?.find((one) => one.connector_id === id)?.name ?? id;
  const { data: pipelines = [] } = usePipelines();
  const { data: credentials = [] } = useCredentials();
  // The last job that used it says what its own test does not.
  const failureOf = (id: string) =>
    pipelines.find(
      (one) =>
        one[`${kind}_id`] === id &&
        one.last_job?.status !== "succeeded" &&
        one.last_job?.failure?.origin === kind,
    )?.last_job?.failure ?? undefined;
  const refused = new Set<string | null>(
    credentials.flatMap(({ status, credential_handle: handle }) =>
      status === "needs_reauth" || status === "expired" ? [handle] : [],
    ),
  );
  const add = mayWrite ? (
    <Button component={Link} href={`/${kind}s/new`}>
      Add a {kind}
    </Button>
  ) : null;
  return (
    <>
      <Head title={title}>{list.data?.length ? add : null}</Head>
      <NamedList query={list} empty={{ title: empty, text, action: add }}>
        {({ id, name, connectorId, lastCheck, credentialHandle }) => {
          const failure = failureOf(id);
          const isRefused = refused.has(credentialHandle);
          return (
            <Row
              key={id}
              to={`/${kind}s/${id}`}
              name={name}
              about={failure === undefined && !isRefused ? undefined : nameOf(connectorId)}
              detail={
                failure === undefined
                  ? isRefused
                    ? "Its login is refused: enter it again, or connect it again."
                    : nameOf(connectorId)
                  : clipped(failure.message)
              }
              later={
                lastCheck === null ? (
                  "Not checked yet"
                ) : (
                  <>
                    Checked <Ago at={lastCheck.checked_at} />
                  </>
                )
              }
              right={
                failure !== undefined || isRefused ? (
                  <Status of="failed" />
                ) : lastCheck === null ? null : (
                  <Status of={lastCheck.status === "succeeded" ? "active" : "failed"} />
                )
              }
            />
          );
        }}
      </NamedList>
    </>
  );
}
