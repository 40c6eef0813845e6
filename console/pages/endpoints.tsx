import { Button } from "@mantine/core";
import { Link } from "wouter";
import { type Kind, useConnectors, useEndpoints } from "../model/queries.ts";
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
  const add = mayWrite ? (
    <Button component={Link} href={`/${kind}s/new`}>
      Add a {kind}
    </Button>
  ) : null;
  return (
    <>
      <Head title={title}>{list.data?.length ? add : null}</Head>
      <NamedList query={list} empty={{ title: empty, text, action: add }}>
        {({ id, name, connectorId, lastCheck }) => (
          <Row
            key={id}
            to={`/${kind}s/${id}`}
            name={name}
            detail={nameOf(connectorId)}
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
              lastCheck === null ? null : (
                <Status of={lastCheck.status === "succeeded" ? "active" : "failed"} />
              )
            }
          />
        )}
      </NamedList>
    </>
  );
}
