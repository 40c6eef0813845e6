import { Button, Menu, Tabs } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { rowWords, sumOf, useModels, useReceivers, useRuns } from "../model/reverse-etl.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { count, plural } from "../model/words.ts";
import { ActivationForm, type ActivationParts } from "../parts/activation-form.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { Row } from "../parts/row.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { ActivationStatus, Ago, Status } from "../parts/status.tsx";

type Activation = schemas["ReverseEtlActivation"];

interface Of {
  readonly activation: Activation;
}

const up = { to: "/activations", label: "Reverse ETL" };

/** One activation: its runs, what the next one would send, and its settings. */
export default function ActivationPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "activations", id],
    queryFn: () =>
      ask(
        api.GET("/reverse-etl/activations/{activationId}", {
          params: { path: { activationId: id } },
        }),
      ),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={query} before={<Head title="Activation" up={up} />}>
      {(activation) => (
        <>
          <Head title={activation.name} up={up} aside={<ActivationStatus of={activation} />}>
            <Actions activation={activation} />
          </Head>
          <Tabs
            defaultValue={activation.lastRunId === null ? "settings" : "runs"}
            keepMounted={false}
          >
            <Tabs.List mb="lg">
              <Tabs.Tab value="runs">Runs</Tabs.Tab>
              <Tabs.Tab value="settings">What is sent</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="runs">
              <Runs id={id} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <Settings activation={activation} />
            </Tabs.Panel>
          </Tabs>
        </>
      )}
    </Loaded>
  );
}

function Actions({ activation }: Of) {
  const { mayRun, mayWrite } = useMe();
  const { isBusy, act } = useAct();
  const [asks, { open, close }] = useDisclosure(false);
  const [asksAll, all] = useDisclosure(false);
  const [, go] = useLocation();
  const queries = useQueryClient();
  if (!mayRun) return null;
  const { activationId, status, name } = activation;
  const path = { activationId };
  const run = async (body: schemas["RunReverseEtlActivationRequest"]) => {
    const made = await ask(
      api.POST("/reverse-etl/activations/{activationId}/run", { params: { path }, body }),
    );
    await queries.invalidateQueries({ queryKey: ["in", "runs"] });
    if (notify.outcome(made, "It has begun.") && !isProposal(made)) go(`/runs/${made.runId}`);
  };
  const turn = async () => {
    const made = await ask(
      api.PATCH("/reverse-etl/activations/{activationId}", {
        params: { path, header: ifMatch(activation) },
        body: { status: status === "active" ? "paused" : "active" },
      }),
    );
    notify.outcome(made, status === "active" ? "It is paused." : "It goes on.");
    await queries.invalidateQueries({ queryKey: ["in", "activations"] });
  };
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/reverse-etl/activations/{activationId}", {
        params: { path, header: ifMatch(activation) },
      }),
    );
    if (notify.outcome(gone, `${name} was deleted.`)) go("/activations");
    await queries.invalidateQueries({ queryKey: ["in", "activations", "list"] });
  };
  return (
    <>
      <Button
        variant="default"
        onClick={() => void act(() => run({ dryRun: true }))}
        loading={isBusy}
      >
        Compare only
      </Button>
      <Button onClick={() => void act(() => run({}))} loading={isBusy}>
        Send now
      </Button>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" aria-label="More actions">
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={all.open}>Send all rows again</Menu.Item>
          {mayWrite ? (
            <>
              <Menu.Item onClick={() => void act(turn)}>
                {status === "active" ? "Pause" : "Go on"}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item color="red" onClick={open}>
                Delete
              </Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        title="Send all rows again?"
        label="Send all"
        keep="Send nothing"
        isOpen={asksAll}
        onClose={all.close}
        run={() => run({ fullResync: true })}
      >
        <span>Every row of the model is sent, also what the receiver has confirmed before.</span>
      </Confirm>
      <Confirm
        title={`Delete ${name}?`}
        label="Delete"
        isOpen={asks}
        onClose={close}
        run={remove}
        isDangerous
      >
        <span>What was sent stays where it is, and its runs can still be read.</span>
      </Confirm>
    </>
  );
}

function Runs({ id }: { readonly id: string }) {
  const runs = useRuns(id);
  return (
    <Loaded query={runs}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            title="Nothing was sent yet"
            text="Look at what the first run would send, or compare only: then it is counted, and nothing is sent."
          />
        ) : (
          <ul className="rows">
            {items.map((one) => (
              <Row
                key={one.runId}
                to={`/runs/${one.runId}`}
                name={one.dryRun ? "Compared" : "Sent"}
                detail={
                  one.dryRun
                    ? rowWords(one.plannedRows)
                    : `${plural(sumOf(one.successfulRows), "row")} sent${sumOf(one.failedRows) === 0 ? "" : `, ${count(sumOf(one.failedRows))} refused`}`
                }
                later={<Ago at={one.createdAt} />}
                right={<Status of={one.status} />}
              />
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

const partsOf = (one: Activation): ActivationParts => ({
  name: one.name,
  modelId: one.modelId,
  destinationId: one.destinationId,
  object: one.object,
  operation: one.operation,
  mappings: one.mappings,
  schedule: one.schedule ?? { type: "manual" },
});

function Settings({ activation }: Of) {
  const models = useModels();
  const receivers = useReceivers();
  const queries = useQueryClient();
  const [loads, setLoads] = useState(0);
  const saving = useSaving(activation, {
    refresh: () => queries.invalidateQueries({ queryKey: ["in", "activations"] }),
    show: () => setLoads(loads + 1),
  });
  const save = ({ name, object, operation, mappings, schedule }: ActivationParts) =>
    saving.save(async (from) => {
      const made = await ask(
        api.PATCH("/reverse-etl/activations/{activationId}", {
          params: { path: { activationId: from.activationId }, header: ifMatch(from) },
          body: {
            name,
            object,
            operation,
            mappings: [...mappings],
            schedule: schedule.type === "manual" ? null : schedule,
          },
        }),
      );
      notify.outcome(made, "Saved. The next run uses it.");
      return made;
    });
  return (
    <ActivationForm
      key={loads}
      isNew={false}
      first={partsOf(saving.before)}
      models={(models.data ?? []).map((one) => ({ value: one.modelId, label: one.name }))}
      receivers={(receivers.data ?? []).map((one) => ({
        value: one.destinationId,
        label: one.name,
      }))}
      label="Save"
      isBusy={saving.isBusy}
      problem={<SaveProblem saving={saving} shownOf={shownOf} />}
      onSave={save}
    />
  );
}

/** The values in the form: columns and fields by name. */
const shownOf = (one: Activation) => ({
  name: one.name,
  object: one.object,
  operation: one.operation,
  mappings: one.mappings.map(({ from, to, isPrimaryIdentifier: finds }) =>
    finds ? `${from} → ${to} (finds the row)` : `${from} → ${to}`,
  ),
  schedule: { ...(one.schedule ?? { type: "manual" }) },
});
