import { Button, Tabs } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { useEndpoints } from "../model/queries.ts";
import {
  placeOf,
  receiverWords,
  useActivations,
  useModels,
  useReceivers,
} from "../model/reverse-etl.ts";
import { clipped, plural, scheduleWords } from "../model/words.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { NamedList } from "../parts/named-list.tsx";
import { Row } from "../parts/row.tsx";
import { ActivationStatus, Ago } from "../parts/status.tsx";

const tabs = {
  activations: {
    label: "Activations",
    add: { to: "/activations/new", label: "Create an activation" },
    List: ActivationList,
  },
  models: {
    label: "Models",
    add: { to: "/models/new", label: "Write a model" },
    List: ModelList,
  },
  receivers: {
    label: "Receivers",
    add: { to: "/receivers/new", label: "Add a receiver" },
    List: ReceiverList,
  },
} as const;

type Tab = keyof typeof tabs;

/** Rows of the warehouse, sent back out: what is sent, where to, and how. */
export default function ReverseEtl({ tab }: { readonly tab: Tab }) {
  const [, go] = useLocation();
  const lists = { activations: useActivations(), models: useModels(), receivers: useReceivers() };
  const { List } = tabs[tab];
  return (
    <>
      <Head title="Reverse ETL">{lists[tab].data?.length ? <Add tab={tab} /> : null}</Head>
      <Tabs value={tab} onChange={(next) => go(`/${next}`)}>
        <Tabs.List mb="lg">
          {Object.entries(tabs).map(([value, { label }]) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <List />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Add({ tab }: { readonly tab: Tab }) {
  const { mayWrite } = useMe();
  const { to, label } = tabs[tab].add;
  return mayWrite ? (
    <Button component={Link} href={to}>
      {label}
    </Button>
  ) : null;
}

/** The first thing that is missing before something can be sent. */
function useNextStep(): Tab {
  const models = useModels();
  const receivers = useReceivers();
  if (models.data?.length === 0) return "models";
  return receivers.data?.length === 0 ? "receivers" : "activations";
}

function ActivationList() {
  const activations = useActivations();
  const models = useModels();
  const receivers = useReceivers();
  const next = useNextStep();
  return (
    <NamedList
      query={activations}
      empty={{
        title: "Nothing is sent back out yet",
        text: "A model is a query over a warehouse. A receiver takes rows: a webhook, tables of a PostgreSQL, subscribers of the mailer. An activation sends the one to the other.",
        action: <Add tab={next} />,
      }}
    >
      {(one) => (
        <Row
          key={one.activationId}
          to={`/activations/${one.activationId}`}
          name={one.name}
          about={`${models.data?.find(({ modelId }) => modelId === one.modelId)?.name ?? "…"} → ${
            receivers.data?.find(({ destinationId }) => destinationId === one.destinationId)
              ?.name ?? "…"
          }`}
          detail={
            one.lastRunError === null
              ? scheduleWords(one.schedule ?? { type: "manual" })
              : clipped(one.lastRunError.message)
          }
          later={
            one.lastRunAt === null ? (
              "Has not run yet"
            ) : (
              <>
                Last run <Ago at={one.lastRunAt} />
              </>
            )
          }
          right={<ActivationStatus of={one} />}
        />
      )}
    </NamedList>
  );
}

function ModelList() {
  const models = useModels();
  const destinations = useEndpoints("destination");
  return (
    <NamedList
      query={models}
      empty={{
        title: "No models yet",
        text: "A model is one SELECT over a warehouse: what may be sent, a row each.",
        action: <Add tab="models" />,
      }}
    >
      {(one) => (
        <Row
          key={one.modelId}
          to={`/models/${one.modelId}`}
          name={one.name}
          detail={`${destinations.data?.find(({ id }) => id === one.warehouseId)?.name ?? "…"} · ${plural(one.columns.length, "column")}`}
          later={
            <>
              Changed <Ago at={one.updatedAt} />
            </>
          }
          right={<Uses of={one.activationIds} />}
        />
      )}
    </NamedList>
  );
}

function ReceiverList() {
  const receivers = useReceivers();
  return (
    <NamedList
      query={receivers}
      empty={{
        title: "No receivers yet",
        text: "A receiver takes rows: a webhook, tables of a PostgreSQL, subscribers of the mailer.",
        action: <Add tab="receivers" />,
      }}
    >
      {(one) => (
        <Row
          key={one.destinationId}
          to={`/receivers/${one.destinationId}`}
          name={one.name}
          about={receiverWords[one.type] ?? one.type}
          detail={<bdi>{placeOf(one)}</bdi>}
          later={
            <>
              Changed <Ago at={one.updatedAt} />
            </>
          }
          right={<Uses of={one.activationIds} />}
        />
      )}
    </NamedList>
  );
}

const Uses = ({ of }: { readonly of: readonly string[] }) => (
  <span className="dim">{of.length === 0 ? "Not used" : plural(of.length, "activation")}</span>
);
