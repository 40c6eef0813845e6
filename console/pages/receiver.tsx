import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import {
  fromReceiver,
  type Receiver,
  type ReceiverType,
  useActivations,
} from "../model/reverse-etl.ts";
import { update } from "../model/save.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { Delete } from "../parts/delete.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify } from "../parts/notify.ts";
import { type Entered, ReceiverForm } from "../parts/receiver-form.tsx";
import { Loaded } from "../parts/states.tsx";
import { StoredAnywayNote } from "../parts/stored-anyway.tsx";

const up = { to: "/receivers", label: "Receivers" };

/** One receiver: where it is, with what it is reached, and what is sent there. */
export default function ReceiverPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "receivers", id],
    queryFn: () =>
      ask(
        api.GET("/reverse-etl/destinations/{destinationId}", {
          params: { path: { destinationId: id } },
        }),
      ),
  });
  return (
    <Loaded query={query} before={<Head title="Receiver" up={up} />}>
      {(receiver) => (
        <>
          <Head title={receiver.name} up={up} />
          <div className="columns">
            <Settings receiver={receiver} />
            <div className="stack" style={{ alignContent: "start" }}>
              <UsedBy receiver={receiver} />
              <Remove receiver={receiver} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

interface Of {
  readonly receiver: Receiver;
}

function Settings({ receiver }: Of) {
  const queries = useQueryClient();
  const [loads, setLoads] = useState(0);
  const saving = useSaving(receiver, {
    refresh: () => queries.invalidateQueries({ queryKey: ["in", "receivers"] }),
    show: () => setLoads(loads + 1),
  });
  const { before, problem } = saving;
  const save = (entered: Entered) =>
    saving.save(async (from) => {
      const made = await send(entered, from);
      notify.outcome(made, isProposal(made) ? "" : `${made.name} works and was saved.`);
      // A typed secret stands nowhere any more.
      if (!isProposal(made)) setLoads(loads + 1);
      return made;
    });
  return (
    <ReceiverForm
      key={loads}
      type={receiver.type as ReceiverType}
      first={before}
      isBusy={saving.isBusy}
      refused={problem}
      problem={(shown) => (
        <>
          <StoredAnywayNote problem={problem} />
          <SaveProblem saving={saving} shownOf={shownOf} fields={shown} />
        </>
      )}
      onSave={save}
    />
  );
}

/** The values in the form. */
const shownOf = ({ name, configuration }: Receiver) => ({ name, configuration });

/** @throws Problem */
async function send(entered: Entered, from: Receiver): Promise<Receiver | schemas["Approval"]> {
  const path = { destinationId: from.destinationId };
  if (entered.type !== "webhook") {
    const { type: _, configuration, ...body } = entered;
    return ask(
      api.PATCH("/reverse-etl/destinations/{destinationId}", {
        params: { path, header: ifMatch(from) },
        body: { ...body, configuration: { ...configuration } },
      }),
    );
  }
  const made = await update(entered.form, fromReceiver(from));
  if (isProposal(made)) return made;
  return ask(api.GET("/reverse-etl/destinations/{destinationId}", { params: { path } }));
}

function UsedBy({ receiver: { activationIds } }: Of) {
  const { mayWrite } = useMe();
  const activations = useActivations();
  return (
    <section className="panel">
      <h2>Used by</h2>
      {activationIds.length === 0 ? (
        <span className="dim">
          No activation sends rows there.{" "}
          {mayWrite ? <Link href="/activations/new">Create one</Link> : null}
        </span>
      ) : (
        <ul className="plain">
          {activationIds.map((id) => (
            <li key={id}>
              <Link href={`/activations/${id}`}>
                {activations.data?.find((one) => one.activationId === id)?.name ?? "Activation"}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Remove({ receiver }: Of) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const { name, destinationId } = receiver;
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/reverse-etl/destinations/{destinationId}", {
        params: { path: { destinationId }, header: ifMatch(receiver) },
      }),
    );
    if (notify.outcome(gone, `${name} was deleted.`)) go("/receivers");
    await queries.invalidateQueries({ queryKey: ["in", "receivers", "list"] });
  };
  return (
    <Delete name={name} label="Delete this receiver" run={remove}>
      What was sent stays there. Activations that use it must be deleted first.
    </Delete>
  );
}
