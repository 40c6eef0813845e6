import { Button, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { type Endpoint, useEndpoints } from "../model/queries.ts";
import { createReceiver } from "../model/save.ts";
import { faultsOf, fieldsOf, initialValues } from "../model/spec.ts";
import { Head } from "../parts/head.tsx";
import { SpecFields } from "../parts/spec-form.tsx";
import { Loaded, ProblemNote } from "../parts/states.tsx";
import { tell } from "../parts/tell.ts";

type Type = schemas["CreateReverseEtlDestinationRequest"]["type"];

const types: readonly { readonly value: Type; readonly label: string }[] = [
  { value: "webhook", label: "Webhook" },
  { value: "postgres", label: "PostgreSQL" },
  { value: "mailer", label: "Mailer" },
];

/** Where rows of models may be sent. Databases and accounts are those that are here already. */
export default function NewReceiver() {
  const [type, setType] = useState<Type>("webhook");
  return (
    <>
      <Head title="Add a receiver" up={{ to: "/activations", label: "Reverse ETL" }} />
      <div className="stack">
        <SegmentedControl
          aria-label="Kind of receiver"
          value={type}
          onChange={(next) => setType(next as Type)}
          data={[...types]}
          style={{ justifySelf: "start" }}
        />
        {type === "webhook" ? <Webhook /> : <Existing key={type} type={type} />}
      </div>
    </>
  );
}

function useSaved() {
  const [, go] = useLocation();
  const queries = useQueryClient();
  return async (made: unknown, name: string) => {
    tell.outcome(made, `${name} works and was saved.`);
    await queries.invalidateQueries({ queryKey: ["in", "receivers"] });
    go(isProposal(made) ? "/activations" : "/activations/new");
  };
}

function Webhook() {
  const spec = useQuery({
    queryKey: ["in", "spec", "conn_webhook"],
    queryFn: () =>
      ask(
        api.GET("/connectors/{connector_id}/spec", {
          params: { path: { connector_id: "conn_webhook" } },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return <Loaded query={spec}>{(data) => <WebhookForm spec={data} />}</Loaded>;
}

function WebhookForm({ spec }: { readonly spec: schemas["GetConnectorSpecResult"] }) {
  const schema = spec.connection_specification;
  const fields = fieldsOf(schema);
  const [name, setName] = useState("Webhook");
  const [values, setValues] = useState(() => initialValues(fields));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const saved = useSaved();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const found = faultsOf(schema, values);
    setFaults(found);
    setProblem(undefined);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    try {
      const { connector_id: connectorId } = spec;
      const { start_path: startPath } = spec.auth;
      const form = { kind: "destination" as const, name, connectorId, fields, values, startPath };
      await saved(await createReceiver(form), name);
    } catch (error) {
      const thrown = toProblem(error);
      setFaults(thrown.fields);
      setProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form panel" noValidate onSubmit={(event) => void submit(event)}>
      <Name value={name} onChange={setName} />
      <SpecFields fields={fields} values={values} faults={faults} onChange={setValues} />
      {problem === undefined ? null : <ProblemNote error={problem} />}
      <Save isBusy={isBusy} isReady={name.trim() !== ""} />
    </form>
  );
}

/** Whose credentials and settings a kind of receiver takes. */
const takes = {
  postgres: {
    connectors: ["conn_postgres", "conn_postgres_destination"],
    label: "Database",
    none: "Add the PostgreSQL as a source or a destination first, with a role that may write.",
  },
  mailer: {
    connectors: ["conn_mailer_product_edm"],
    label: "Account",
    none: "Add the mailer as a source first: its subscribers are reached with the same token.",
  },
} as const;

/** What says where it is; the other settings are about reading. */
const placeFields: readonly string[] = [
  "host",
  "port",
  "database",
  "username",
  "ssl_mode",
  "ssl_root_certificate",
  "base_url",
  "connection_method",
];

function Existing({ type }: { readonly type: "postgres" | "mailer" }) {
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const { connectors, none } = takes[type];
  return (
    <Loaded query={sources}>
      {(left) => (
        <Loaded query={destinations}>
          {(right) => {
            const found = [...left, ...right].filter((one) =>
              (connectors as readonly string[]).includes(one.connectorId),
            );
            return found.length === 0 ? (
              <p className="dim">{none}</p>
            ) : (
              <ExistingForm type={type} choices={found} />
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

function ExistingForm({
  type,
  choices,
}: {
  readonly type: "postgres" | "mailer";
  readonly choices: readonly Endpoint[];
}) {
  const [id, setId] = useState(choices[0]?.id ?? "");
  const [name, setName] = useState(choices[0]?.name ?? "");
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const saved = useSaved();
  const chosen = choices.find((one) => one.id === id);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      const configuration = Object.fromEntries(
        Object.entries(chosen?.configuration ?? {}).filter(([key]) => placeFields.includes(key)),
      );
      const made = await ask(
        api.POST("/reverse-etl/destinations", {
          body: { name, type, credentialHandle: chosen?.credentialHandle ?? "", configuration },
        }),
      );
      await saved(made, name);
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form panel" noValidate onSubmit={(event) => void submit(event)}>
      <NativeSelect
        label={takes[type].label}
        value={id}
        data={choices.map((one) => ({ value: one.id, label: one.name }))}
        onChange={(event) => {
          setId(event.currentTarget.value);
          setName(choices.find((one) => one.id === event.currentTarget.value)?.name ?? name);
        }}
      />
      <Name value={name} onChange={setName} />
      {problem === undefined ? null : <ProblemNote error={problem} />}
      <Save isBusy={isBusy} isReady={name.trim() !== ""} />
    </form>
  );
}

const Name = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (name: string) => void;
}) => (
  <TextInput
    label="Name"
    description="What this receiver is called here."
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    error={value.trim() === "" ? "Give it a name." : undefined}
    required
  />
);

const Save = ({ isBusy, isReady }: { readonly isBusy: boolean; readonly isReady: boolean }) => (
  <>
    <div>
      <Button type="submit" loading={isBusy} disabled={!isReady}>
        Save &amp; Test
      </Button>
    </div>
    <span className="dim">
      It is tried first. When that fails, nothing is saved. No row is sent.
    </span>
  </>
);
