/**
 * The form of a receiver: a webhook has settings of its own, others are sources or destinations.
 */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { api, ask } from "../api/client.ts";
import type { Problem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import { type Endpoint, useEndpoints } from "../model/queries.ts";
import type { ReceiverType } from "../model/reverse-etl.ts";
import type { Form } from "../model/save.ts";
import { fieldsOf, namesOf } from "../model/spec.ts";
import { faultsOf, refusedFields } from "../model/spec-faults.ts";
import { initialValues } from "../model/spec-values.ts";
import { useFaultFocus } from "./fault-focus.ts";
import { useMe } from "./me.tsx";
import { SpecFields } from "./spec-form.tsx";
import { Loaded } from "./states.tsx";

/** The first values of a form: those that exist, or none. */
interface First {
  readonly name: string;
  readonly credentialHandle: string | null;
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** The entered values, as they are sent. */
export type Entered =
  | { readonly type: "webhook"; readonly form: Form }
  | {
      readonly type: Exclude<ReceiverType, "webhook">;
      readonly name: string;
      readonly credentialHandle: string;
      readonly configuration: Readonly<Record<string, unknown>>;
    };

interface ReceiverFormProps {
  /** Undefined: it is new. */
  readonly first: First | undefined;
  readonly isBusy: boolean;
  /** The refusal of what was sent. */
  readonly refused: Problem | undefined;
  /** The outcome of saving. @param shown names of fields that say their faults themselves */
  readonly problem: (shown: readonly string[]) => ReactNode;
  readonly onSave: (entered: Entered) => void;
}

export const ReceiverForm = ({
  type,
  ...props
}: ReceiverFormProps & { readonly type: ReceiverType }) =>
  type === "webhook" ? <Webhook {...props} /> : <Existing key={type} type={type} {...props} />;

function Webhook(props: ReceiverFormProps) {
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
  return <Loaded query={spec}>{(data) => <WebhookForm spec={data} {...props} />}</Loaded>;
}

function WebhookForm({
  spec,
  first,
  onSave,
  ...props
}: ReceiverFormProps & { readonly spec: schemas["GetConnectorSpecResult"] }) {
  const { connection_specification: schema, connector_id: connectorId } = spec;
  const fields = fieldsOf(schema);
  const stored = first === undefined ? [] : spec.secret_fields;
  const { mayWrite } = useMe();
  const [name, setName] = useState(first?.name ?? "Webhook");
  const [values, setValues] = useState(() => first?.configuration ?? initialValues(fields));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const save = () => {
    const found = faultsOf(schema, values, stored);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const { start_path: startPath } = spec.auth;
    onSave({
      type: "webhook",
      form: { kind: "webhook", name, connectorId, fields, values, startPath },
    });
  };
  return (
    <Frame
      {...props}
      name={name}
      found={faults}
      problem={props.problem(namesOf(fields))}
      onName={setName}
      onSave={save}
    >
      <SpecFields
        fields={fields}
        values={values}
        faults={{ ...refusedFields(props.refused, fields, values), ...faults }}
        stored={stored}
        isReadOnly={!mayWrite}
        onChange={setValues}
      />
    </Frame>
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

/** The settings that say where it is; the others are about reading. */
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

type ExistingProps = ReceiverFormProps & { readonly type: keyof typeof takes };

function Existing(props: ExistingProps) {
  const sources = useEndpoints("source");
  const destinations = useEndpoints("destination");
  const { connectors, none } = takes[props.type];
  return (
    <Loaded query={sources}>
      {(left) => (
        <Loaded query={destinations}>
          {(right) => {
            const found = [...left, ...right].filter((one) =>
              (connectors as readonly string[]).includes(one.connectorId),
            );
            return found.length === 0 && props.first === undefined ? (
              <p className="dim">{none}</p>
            ) : (
              <ExistingForm choices={found} {...props} />
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

function ExistingForm({
  type,
  first,
  choices,
  onSave,
  ...props
}: ExistingProps & { readonly choices: readonly Endpoint[] }) {
  const { mayWrite } = useMe();
  const same = choices.find((one) => one.credentialHandle === first?.credentialHandle);
  const [id, setId] = useState(first === undefined ? (choices[0]?.id ?? "") : (same?.id ?? ""));
  const [name, setName] = useState(first?.name ?? choices[0]?.name ?? "");
  const chosen = choices.find((one) => one.id === id);
  const placeOf = ({ configuration }: Pick<Endpoint, "configuration">) =>
    Object.fromEntries(Object.entries(configuration).filter(([key]) => placeFields.includes(key)));
  return (
    <Frame
      {...props}
      name={name}
      problem={props.problem(["name"])}
      onName={setName}
      onSave={() =>
        onSave({
          type,
          name,
          credentialHandle: (chosen ?? first)?.credentialHandle ?? "",
          configuration: chosen ? placeOf(chosen) : (first?.configuration ?? {}),
        })
      }
    >
      <NativeSelect
        label={takes[type].label}
        description="Its settings and its login are used as they are now."
        value={id}
        disabled={!mayWrite}
        data={[
          ...(id === "" ? [{ value: "", label: "The one that it uses now" }] : []),
          ...choices.map((one) => ({ value: one.id, label: one.name })),
        ]}
        onChange={(event) => {
          const next = choices.find((one) => one.id === event.currentTarget.value);
          setId(next?.id ?? "");
          if (first === undefined && next) setName(next.name);
        }}
      />
    </Frame>
  );
}

const nothing = {};

function Frame({
  name,
  isBusy,
  refused,
  found = nothing,
  problem,
  onName,
  onSave,
  children,
}: {
  readonly name: string;
  readonly isBusy: boolean;
  readonly refused: Problem | undefined;
  /** The fault in what was entered. */
  readonly found?: object;
  readonly problem: ReactNode;
  readonly onName: (name: string) => void;
  readonly onSave: () => void;
  readonly children: ReactNode;
}) {
  const { mayWrite } = useMe();
  const form = useFaultFocus(found, refused);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave();
  };
  return (
    <form className="form panel" ref={form} noValidate onSubmit={submit}>
      <TextInput
        label="Name"
        description="What this receiver is called here."
        value={name}
        disabled={!mayWrite}
        onChange={(event) => onName(event.currentTarget.value)}
        error={name.trim() === "" ? "Give it a name." : refused?.fields.name}
        required
      />
      {children}
      {problem}
      {mayWrite ? (
        <>
          <div>
            <Button type="submit" loading={isBusy} disabled={name.trim() === ""}>
              Save &amp; Test
            </Button>
          </div>
          <span className="dim">
            It is tried first. When that fails, nothing is saved. No row is sent.
          </span>
        </>
      ) : (
        <span className="dim">Only editors and administrators change receivers.</span>
      )}
    </form>
  );
}
