import { Button } from "@mantine/core";
import { Link } from "wouter";
import { useConnectors } from "../model/queries.ts";
import { spoken } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { NamedList } from "../parts/named-list.tsx";
import { Row } from "../parts/row.tsx";

/** Connectors of this instance: those that come with svc, and those added. */
export default function Connectors() {
  const { administersInstance } = useMe();
  const connectors = useConnectors();
  return (
    <>
      <Head title="Connectors">
        {administersInstance ? (
          <Button component={Link} href="/connectors/new">
            Add a connector
          </Button>
        ) : null}
      </Head>
      <NamedList query={connectors} empty={{ title: "No connectors", text: "None is here." }}>
        {({ connector_id: id, name, type, category, added, enabled, release_stage: stage }) => (
          <Row
            key={id}
            to={`/connectors/${id}`}
            name={name}
            badge={added ? "Added" : undefined}
            detail={spoken(type)}
            later={spoken(category)}
            right={
              <span className="dim">
                {enabled ? (stage === "ga" ? "" : spoken(stage)) : "Disabled"}
              </span>
            }
          />
        )}
      </NamedList>
    </>
  );
}
