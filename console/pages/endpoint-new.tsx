import { Alert, Button, SegmentedControl, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { type Kind, useConnectors } from "../model/queries.ts";
import { create } from "../model/save.ts";
import { type Field, fieldsOf, fieldsWithout, namesOf, type Values } from "../model/spec.ts";
import { faultsOf, refusedFields } from "../model/spec-faults.ts";
import { given, initialValues } from "../model/spec-values.ts";
import { useWork } from "../model/use-work.ts";
import { spoken } from "../model/words.ts";
import { ConnectAccount } from "../parts/connect-account.tsx";
import {
  EntityFields,
  entityFields,
  hasEntities,
  missingEntities,
} from "../parts/entity-fields.tsx";
import { useFaultFocus } from "../parts/fault-focus.ts";
import { Head } from "../parts/head.tsx";
import { Icon } from "../parts/icon.tsx";
import { notify } from "../parts/notify.ts";
import { SpecFields } from "../parts/spec-form.tsx";
import { Loaded, ProblemNote } from "../parts/states.tsx";

type Connector = schemas["Connector"];

export default function NewEndpoint({
  kind,
  connector,
}: {
  readonly kind: Kind;
  readonly connector: string | undefined;
}) {
  const connectors = useConnectors();
  const up = { to: `/${kind}s`, label: `${spoken(kind)}s` };
  return (
    <Loaded query={connectors} before={<Head title={`Add a ${kind}`} up={up} />}>
      {(all) => {
        const chosen = all.find(({ connector_id: id }) => id === connector);
        return chosen ? (
          <Form kind={kind} connector={chosen} />
        ) : (
          <Catalogue kind={kind} all={all.filter(({ type }) => type === kind)} />
        );
      }}
    </Loaded>
  );
}

function Catalogue({ kind, all }: { readonly kind: Kind; readonly all: readonly Connector[] }) {
  const [search, setSearch] = useState("");
  const wanted = search.toLowerCase();
  const found = all.filter(({ name, category }) =>
    `${name} ${spoken(category)}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <Head title={`Add a ${kind}`} up={{ to: `/${kind}s`, label: `${spoken(kind)}s` }} />
      <div className="stack">
        <TextInput
          aria-label="Search connectors"
          placeholder="Search"
          leftSection={<Icon name="search" />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          maw="22rem"
        />
        <div className="cards">
          {found.map((one) => {
            const { connector_id: id, name, category } = one;
            const why = whyNot(one);
            const inside = (
              <>
                <span className="letter" aria-hidden="true">
                  {name.charAt(0)}
                </span>
                <span>
                  <span className="name">{name}</span>
                  <span className="dim">{why ?? spoken(category)}</span>
                </span>
              </>
            );
            return why === undefined ? (
              <Link key={id} href={`/${kind}s/new/${id}`} className="card named">
                {inside}
              </Link>
            ) : (
              <div key={id} className="card named">
                {inside}
              </div>
            );
          })}
        </div>
        {found.length === 0 ? <p className="dim">No connector is called “{search}”.</p> : null}
      </div>
    </>
  );
}

/** Why a connector cannot be added here; undefined: it can. */
const whyNot = ({ enabled }: Connector): string | undefined =>
  enabled ? undefined : "Disabled by the operator.";

function Form({ kind, connector }: { readonly kind: Kind; readonly connector: Connector }) {
  const { connector_id: id, name } = connector;
  const spec = useQuery({
    queryKey: ["in", "spec", id],
    queryFn: () =>
      ask(api.GET("/connectors/{connector_id}/spec", { params: { path: { connector_id: id } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <Head
        title={`Add ${name}`}
        up={{ to: `/${kind}s/new`, label: `All ${kind}s that can be added` }}
      />
      <Loaded query={spec}>
        {(data) => <SpecForm kind={kind} connector={connector} spec={data} />}
      </Loaded>
    </>
  );
}

function SpecForm({
  kind,
  connector,
  spec,
}: {
  readonly kind: Kind;
  readonly connector: Connector;
  readonly spec: schemas["GetConnectorSpecResult"];
}) {
  const schema = spec.connection_specification;
  const { connector_id: connectorId, auth_types: types } = connector;
  const byAccount = spec.auth.account_fields;
  const mayConnect = kind === "source" && byAccount.length > 0;
  const mayEnter = types.some((type) => type !== "oauth2");
  const [way, setWay] = useState<"connect" | "enter">(mayConnect ? "connect" : "enter");
  const [account, setAccount] = useState<schemas["ConnectedAccount"]>();
  const isConnect = way === "connect";
  const all = fieldsOf(schema);
  const chosen: readonly string[] = isConnect && hasEntities(all) ? entityFields : [];
  const fields = fieldsWithout(all, isConnect ? byAccount : []);
  const typed = fields.filter(({ name }) => !chosen.includes(name));
  const [title, setTitle] = useState(connector.name);
  const [values, setValues] = useState(() => initialValues(all));
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const { isBusy, problem, run } = useWork();
  const form = useFaultFocus(faults, problem);
  const [, go] = useLocation();
  const queries = useQueryClient();

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...faultsOf(schema, values, isConnect ? byAccount : []),
      ...(chosen.length > 0 ? missingEntities(values) : {}),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    void run(async () => {
      const made = await create({
        kind,
        name: title,
        connectorId,
        fields,
        values,
        startPath: spec.auth.start_path,
        account: isConnect ? account : undefined,
      });
      await queries.invalidateQueries({ queryKey: ["in", kind] });
      await queries.invalidateQueries({ queryKey: ["in", "credentials"] });
      notify.outcome(made, `${title} works and was saved.`);
      go(isProposal(made) ? `/${kind}s` : `/${kind}s/${made.id}`);
    });
  };
  return (
    <form className="form panel" ref={form} noValidate onSubmit={submit}>
      <TextInput
        label="Name"
        description={`What this ${kind} is called here.`}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
        error={title.trim() === "" ? "Give it a name." : undefined}
        required
      />
      {mayConnect && mayEnter ? (
        <SegmentedControl
          aria-label="How it is authenticated"
          value={way}
          onChange={(next) => setWay(next as typeof way)}
          data={[
            { value: "connect", label: "Connect an account" },
            { value: "enter", label: "Enter a token" },
          ]}
        />
      ) : null}
      <SpecFields
        fields={typed}
        values={values}
        faults={{ ...refusedFields(problem, fields, values), ...faults }}
        shown={isConnect ? Object.keys(inputOf(typed, values)) : []}
        onChange={setValues}
      />
      {isConnect && account === undefined ? (
        <ConnectAccount
          label={`Connect ${connector.name}`}
          connecting={{ connectorId, name: title, input: inputOf(typed, values) }}
          onDone={setAccount}
        />
      ) : null}
      {isConnect && account ? (
        <Alert color="teal" variant="light" title="The account is connected" role="status">
          <Button size="xs" variant="default" onClick={() => setAccount(undefined)}>
            Connect another one
          </Button>
        </Alert>
      ) : null}
      {account && chosen.length > 0 ? (
        <EntityFields
          account={{ credential_handle: account.credential_handle }}
          values={values}
          faults={{ ...problem?.fields, ...faults }}
          onChange={setValues}
        />
      ) : null}
      {problem === undefined ? null : <ProblemNote error={problem} shown={namesOf(fields)} />}
      {isConnect && account === undefined ? (
        <span className="dim">
          Connecting opens a window of the provider. svc never sees your password.
        </span>
      ) : (
        <>
          <div>
            <Button type="submit" loading={isBusy} disabled={title.trim() === ""}>
              Save &amp; Test
            </Button>
          </div>
          <span className="dim">
            The connection is tested first. When the test fails, nothing is saved.
          </span>
        </>
      )}
    </form>
  );
}

/** Settings that may decide where one logs in: none is secret. */
const inputOf = (fields: readonly Field[], values: Values) =>
  given(
    Object.fromEntries(
      fields.flatMap(({ name, isSecret, kind }) =>
        !isSecret && kind === "choice" ? [[name, values[name]]] : [],
      ),
    ),
  );
