import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { api, askNow } from "../api/client.ts";
import { bodyOf, type GivenConnector, noConnector } from "../model/given-connector.ts";
import { useWork } from "../model/use-work.ts";
import { GivenConnectorForm } from "../parts/given-connector-form.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { notify } from "../parts/notify.ts";
import { ForAdministrators, ProblemNote } from "../parts/states.tsx";

/** A connector for every workspace of the instance, by who administers it. */
export default function NewConnector() {
  const { administersInstance } = useMe();
  const { isBusy, problem, run } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const save = (given: GivenConnector) =>
    run(async () => {
      const body = { name: given.name, ...bodyOf(given) };
      const made = await askNow(api.POST("/connectors", { body }));
      notify.done(`${made.name} was added. Every workspace may use it now.`);
      await queries.invalidateQueries({ queryKey: ["in", "connectors"] });
      go(`/connectors/${made.connector_id}`);
    });
  return (
    <>
      <Head title="Add a connector" up={{ to: "/connectors", label: "Connectors" }} />
      {administersInstance ? (
        <GivenConnectorForm
          first={noConnector}
          isNew
          label="Add it"
          isBusy={isBusy}
          problem={problem}
          note={problem === undefined ? null : <ProblemNote error={problem} />}
          onSave={(given) => void save(given)}
        />
      ) : (
        <ForAdministrators text="Ask one of them to add it." />
      )}
    </>
  );
}
