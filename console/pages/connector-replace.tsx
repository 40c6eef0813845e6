import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { api, askNow } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { bodyOf, type GivenConnector, givenOf } from "../model/given-connector.ts";
import { useConnector } from "../model/queries.ts";
import { useWork } from "../model/use-work.ts";
import { GivenConnectorForm } from "../parts/given-connector-form.tsx";
import { Head } from "../parts/head.tsx";
import { Loaded } from "../parts/states.tsx";
import { tell } from "../parts/tell.ts";

/** A newer manifest or image in the place of the one before; what was made with it stays. */
export default function ReplaceConnector({ id }: { readonly id: string }) {
  const query = useConnector(id);
  return (
    <Loaded
      query={query}
      before={<Head title="Connector" up={{ to: "/connectors", label: "Connectors" }} />}
    >
      {(connector) => <Newer connector={connector} />}
    </Loaded>
  );
}

function Newer({ connector }: { readonly connector: schemas["ConnectorWithStreams"] }) {
  const { connector_id: id, name } = connector;
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const save = (given: GivenConnector) =>
    run(async () => {
      const path = { connector_id: id };
      await askNow(
        api.PATCH("/connectors/{connector_id}", { params: { path }, body: bodyOf(given) }),
      );
      tell.done(`${name} was replaced. Its next runs use what is here now.`);
      await queries.invalidateQueries({ queryKey: ["in", "connectors"] });
      go(`/connectors/${id}`);
    });
  return (
    <>
      <Head title={`Replace ${name}`} up={{ to: `/connectors/${id}`, label: name }} />
      <GivenConnectorForm
        first={givenOf(connector)}
        isNew={false}
        label="Replace it"
        isBusy={isBusy}
        problem={problem}
        onSave={(given) => void save(given)}
      />
    </>
  );
}
