import { SegmentedControl } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import { type ReceiverType, receiverWords } from "../model/reverse-etl.ts";
import { create } from "../model/save.ts";
import { useWork } from "../model/use-work.ts";
import { Head } from "../parts/head.tsx";
import { notify } from "../parts/notify.ts";
import { type Entered, ReceiverForm } from "../parts/receiver-form.tsx";
import { ProblemNote } from "../parts/states.tsx";

/** Where rows of models may be sent. Databases and accounts are those that are here already. */
export default function NewReceiver() {
  const [type, setType] = useState<ReceiverType>("webhook");
  const { isBusy, problem, run, clear } = useWork();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const save = (entered: Entered) =>
    run(async () => {
      const made = await send(entered);
      notify.outcome(made, isProposal(made) ? "" : `${made.name} works and was saved.`);
      await queries.invalidateQueries({ queryKey: ["in", "receivers"] });
      go(isProposal(made) ? "/receivers" : "/activations/new");
    });
  return (
    <>
      <Head title="Add a receiver" up={{ to: "/receivers", label: "Receivers" }} />
      <div className="stack">
        <SegmentedControl
          aria-label="Kind of receiver"
          value={type}
          onChange={(next) => {
            clear();
            setType(next as ReceiverType);
          }}
          data={Object.entries(receiverWords).map(([value, label]) => ({ value, label }))}
          style={{ justifySelf: "start" }}
        />
        <ReceiverForm
          type={type}
          first={undefined}
          isBusy={isBusy}
          refused={problem}
          problem={(shown) =>
            problem === undefined ? null : <ProblemNote error={problem} shown={shown} />
          }
          onSave={(entered) => void save(entered)}
        />
      </div>
    </>
  );
}

/** @throws Problem */
const send = (entered: Entered) =>
  entered.type === "webhook"
    ? create(entered.form)
    : ask(
        api.POST("/reverse-etl/destinations", {
          body: { ...entered, configuration: { ...entered.configuration } },
        }),
      );
