import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, askNow } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { bodyOf, type GivenConnector, givenOf } from "../model/given-connector.ts";
import { useConnector } from "../model/queries.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { GivenConnectorForm } from "../parts/given-connector-form.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify } from "../parts/notify.ts";
import { ForAdministrators, Loaded } from "../parts/states.tsx";

/** A newer manifest or image in the place of the one before; what was made with it stays. */
export default function ReplaceConnector({ id }: { readonly id: string }) {
  const { administersInstance } = useMe();
  const query = useConnector(id);
  return (
    <Loaded
      query={query}
      before={<Head title="Connector" up={{ to: "/connectors", label: "Connectors" }} />}
    >
      {(connector) => (
        <>
          <Head
            title={`Replace ${connector.name}`}
            up={{ to: `/connectors/${id}`, label: connector.name }}
          />
          {administersInstance ? (
            <Newer connector={connector} />
          ) : (
            <ForAdministrators text="Ask one of them to replace it." />
          )}
        </>
      )}
    </Loaded>
  );
}

/** The connector's fields, and its version. Code has none, and is the operator's alone. */
const versionedOf = (connector: schemas["ConnectorWithStreams"]) => ({
  ...givenOf(connector),
  version: connector.version ?? 0,
});

function Newer({ connector }: { readonly connector: schemas["ConnectorWithStreams"] }) {
  const { connector_id: id, name } = connector;
  const [, go] = useLocation();
  const queries = useQueryClient();
  const [loads, setLoads] = useState(0);
  const refresh = () => queries.invalidateQueries({ queryKey: ["in", "connectors"] });
  const saving = useSaving(versionedOf(connector), { refresh, show: () => setLoads(loads + 1) });
  const { before, isBusy, problem } = saving;
  const save = (given: GivenConnector) =>
    saving.save(async (from) => {
      const params = { path: { connector_id: id }, header: ifMatch(from) };
      const { version } = await askNow(
        api.PATCH("/connectors/{connector_id}", { params, body: bodyOf(given) }),
      );
      notify.done(`${name} was replaced. Its next runs use what is here now.`);
      go(`/connectors/${id}`);
      return { ...given, version };
    });
  return (
    <GivenConnectorForm
      key={loads}
      first={before}
      isNew={false}
      label="Replace it"
      isBusy={isBusy}
      problem={problem}
      note={<SaveProblem saving={saving} shownOf={bodyOf} />}
      onSave={save}
    />
  );
}
