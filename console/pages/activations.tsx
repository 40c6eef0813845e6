import { Button, Tabs } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useEndpoints } from "../model/queries.ts";
import { useActivations, useModels, useReceivers } from "../model/reverse-etl.ts";
import { plural, scheduleWords, spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SearchedList } from "../parts/searched-list.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { tell } from "../parts/tell.ts";

/** Rows of the warehouse, sent back out: what is sent, where to, and how. */
export default function Activations() {
  return (
    <>
      <Head title="Reverse ETL" />
      <Tabs defaultValue="activations" keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="activations">Activations</Tabs.Tab>
          <Tabs.Tab value="models">Models</Tabs.Tab>
          <Tabs.Tab value="receivers">Receivers</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="activations">
          <ActivationList />
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <ModelList />
        </Tabs.Panel>
        <Tabs.Panel value="receivers">
          <ReceiverList />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

const Add = ({ to, label }: { readonly to: string; readonly label: string }) => {
  const { mayWrite } = useMe();
  return mayWrite ? (
    <div>
      <Button component={Link} href={to}>
        {label}
      </Button>
    </div>
  ) : null;
};

function ActivationList() {
  const activations = useActivations();
  const models = useModels();
  const receivers = useReceivers();
  const hasParts = (models.data?.length ?? 0) > 0 && (receivers.data?.length ?? 0) > 0;
  const next =
    (models.data?.length ?? 0) === 0 ? (
      <Add to="/models/new" label="Write a model" />
    ) : (
      <Add to="/receivers/new" label="Add a receiver" />
    );
  return (
    <Loaded query={activations}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            title="Nothing is sent back out yet"
            text="A model is a query over a warehouse. A receiver takes rows: a webhook, tables of a PostgreSQL, subscribers of the mailer. An activation sends the one to the other."
            action={hasParts ? <Add to="/activations/new" label="Create an activation" /> : next}
          />
        ) : (
          <div className="stack">
            <Add to="/activations/new" label="Create an activation" />
            <SearchedList items={all}>
              {(one) => (
                <li key={one.activationId}>
                  <Link href={`/activations/${one.activationId}`} className="row">
                    <span>
                      <span className="name">{one.name}</span>
                      <br />
                      <span className="dim">
                        {models.data?.find(({ modelId }) => modelId === one.modelId)?.name ?? "…"} →{" "}
                        {receivers.data?.find(
                          ({ destinationId }) => destinationId === one.destinationId,
                        )?.name ?? "…"}
                      </span>
                    </span>
                    <span className="dim wide">
                      {scheduleWords(one.schedule ?? { type: "manual" })}
                    </span>
                    <span className="dim later">
                      {one.lastRunAt === null ? (
                        "Has not run yet"
                      ) : (
                        <>
                          Last run <Ago at={one.lastRunAt} />
                        </>
                      )}
                    </span>
                    <span className="right">
                      <Status of={one.status} />
                    </span>
                  </Link>
                </li>
              )}
            </SearchedList>
          </div>
        )
      }
    </Loaded>
  );
}

function ModelList() {
  const models = useModels();
  const destinations = useEndpoints("destination");
  return (
    <Loaded query={models}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            title="No models yet"
            text="A model is one SELECT over a warehouse: what may be sent, a row each."
            action={<Add to="/models/new" label="Write a model" />}
          />
        ) : (
          <div className="stack">
            <Add to="/models/new" label="Write a model" />
            <SearchedList items={all}>
              {(one) => (
                <li key={one.modelId}>
                  <Link href={`/models/${one.modelId}`} className="row">
                    <span className="name">{one.name}</span>
                    <span className="dim wide">
                      {destinations.data?.find(({ id }) => id === one.warehouseId)?.name ?? "…"} ·{" "}
                      {plural(one.columns.length, "column")}
                    </span>
                    <span className="dim later">
                      Changed <Ago at={one.updatedAt} />
                    </span>
                    <span className="dim right">
                      {plural(one.activationIds.length, "activation")}
                    </span>
                  </Link>
                </li>
              )}
            </SearchedList>
          </div>
        )
      }
    </Loaded>
  );
}

function ReceiverList() {
  const receivers = useReceivers();
  return (
    <Loaded query={receivers}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            title="No receivers yet"
            text="A receiver takes rows: a webhook, tables of a PostgreSQL, subscribers of the mailer."
            action={<Add to="/receivers/new" label="Add a receiver" />}
          />
        ) : (
          <div className="stack">
            <Add to="/receivers/new" label="Add a receiver" />
            <SearchedList items={all}>
              {(one) => <Receiver key={one.destinationId} receiver={one} />}
            </SearchedList>
          </div>
        )
      }
    </Loaded>
  );
}

function Receiver({ receiver }: { readonly receiver: schemas["ReverseEtlDestination"] }) {
  const { mayWrite } = useMe();
  const [asks, { open, close }] = useDisclosure(false);
  const queries = useQueryClient();
  const { name, type, configuration, destinationId, activationIds, version } = receiver;
  const place = configuration.url ?? configuration.base_url ?? configuration.host;
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/reverse-etl/destinations/{destinationId}", {
        params: { path: { destinationId }, header: { "If-Match": `"v${version}"` } },
      }),
    );
    tell.outcome(gone, `${name} was deleted.`);
    await queries.invalidateQueries({ queryKey: ["in", "receivers"] });
  };
  return (
    <li className="row">
      <span className="name">{name}</span>
      <bdi className="dim wide">{typeof place === "string" ? place : ""}</bdi>
      <span className="dim later">
        {spoken(type)}, {plural(activationIds.length, "activation")}
      </span>
      <span className="right">
        {mayWrite ? (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`Delete ${name}`}
            onClick={open}
          >
            Delete
          </Button>
        ) : null}
      </span>
      <Confirm title={`Delete ${name}?`} label="Delete" isOpen={asks} onClose={close} run={remove}>
        <span>What was sent stays there. Activations that use it must be deleted first.</span>
      </Confirm>
    </li>
  );
}
