import { Alert, Button, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import { type Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import {
  type Endpoint,
  fromDestination,
  fromSource,
  type Kind,
  useCredentials,
  usePipelines,
} from "../model/queries.ts";
import { StoredAnyway, update } from "../model/save.ts";
import { faultsOf, fieldsOf, type Values } from "../model/spec.ts";
import { spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { CredentialPanel } from "../parts/credential-panel.tsx";
import {
  EntityFields,
  entityFields,
  hasEntities,
  missingEntities,
} from "../parts/entity-fields.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { SpecFields } from "../parts/spec-form.tsx";
import { Loaded } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { tell } from "../parts/tell.ts";

interface EndpointWithSpec {
  readonly endpoint: Endpoint;
  readonly spec: schemas["GetConnectorSpecResult"];
}

/** One source or destination: its settings, its last check, and what uses it. */
export default function EndpointPage({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", kind, id],
    queryFn: async (): Promise<EndpointWithSpec> => {
      const endpoint =
        kind === "source"
          ? fromSource(
              await ask(api.GET("/sources/{source_id}", { params: { path: { source_id: id } } })),
            )
          : fromDestination(
              await ask(
                api.GET("/destinations/{destination_id}", {
                  params: { path: { destination_id: id } },
                }),
              ),
            );
      const path = { connector_id: endpoint.connectorId };
      const spec = await ask(api.GET("/connectors/{connector_id}/spec", { params: { path } }));
      return { endpoint, spec };
    },
  });
  return (
    <Loaded query={query}>
      {({ endpoint, spec }) => (
        <>
          <Head title={endpoint.name} up={{ to: `/${kind}s`, label: `${spoken(kind)}s` }} />
          <div className="columns">
            <Settings kind={kind} endpoint={endpoint} spec={spec} />
            <div className="stack" style={{ alignContent: "start" }}>
              <LastCheck kind={kind} endpoint={endpoint} />
              <CredentialPanel endpoint={endpoint} />
              <UsedBy kind={kind} endpoint={endpoint} />
              <Delete kind={kind} endpoint={endpoint} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

interface Of {
  readonly kind: Kind;
  readonly endpoint: Endpoint;
}

function Settings({ kind, endpoint, spec }: Of & Pick<EndpointWithSpec, "spec">) {
  const schema = spec.connection_specification;
  const credentials = useCredentials();
  const isConnected =
    credentials.data?.find((one) => one.credential_handle === endpoint.credentialHandle)
      ?.auth_type === "oauth2";
  const { account_fields: byAccount } = spec.auth;
  const fields = fieldsOf(schema).filter(({ name }) => !isConnected || !byAccount.includes(name));
  const chosen: readonly string[] = isConnected && hasEntities(fields) ? entityFields : [];
  const { mayWrite } = useMe();
  // What was there when the form was opened: what others change meanwhile neither takes away what
  // was typed, nor is it written over.
  const [before, setBefore] = useState(endpoint);
  const [title, setTitle] = useState(endpoint.name);
  const [values, setValues] = useState<Values>(endpoint.configuration);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<Problem>();
  const [isStoredAnyway, setStoredAnyway] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  const stored =
    endpoint.credentialHandle === null
      ? []
      : [...spec.secret_fields, ...(isConnected ? byAccount : [])];

  const begin = (from: Endpoint) => {
    setBefore(from);
    setTitle(from.name);
    setValues(from.configuration);
    setProblem(undefined);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(before);
  };
  const save = async (from: Endpoint) => {
    const found = {
      ...faultsOf(schema, values, stored),
      ...(chosen.length > 0 ? missingEntities(values) : {}),
    };
    setFaults(found);
    setProblem(undefined);
    if (Object.keys(found).length > 0) return;
    setBusy(true);
    setStoredAnyway(false);
    try {
      const made = await update(
        {
          kind,
          name: title,
          connectorId: endpoint.connectorId,
          fields,
          values,
          startPath: spec.auth.start_path,
        },
        from,
      );
      if (!isProposal(made)) begin(made);
      await queries.invalidateQueries({ queryKey: ["in", kind] });
      await queries.invalidateQueries({ queryKey: ["in", "credentials"] });
      tell.outcome(made, `${title} works and was saved.`);
    } catch (error) {
      const isStored = error instanceof StoredAnyway;
      const thrown = toProblem(isStored ? error.problem : error);
      if (thrown.status === 412)
        await queries.refetchQueries({ queryKey: ["in", kind, endpoint.id] });
      setFaults(thrown.fields);
      setProblem(thrown);
      setStoredAnyway(isStored);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="form panel" noValidate onSubmit={submit}>
      <h2 className="section" style={{ margin: 0 }}>
        Settings
      </h2>
      <TextInput
        label="Name"
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
        disabled={!mayWrite}
        required
      />
      <SpecFields
        fields={fields.filter(({ name }) => !chosen.includes(name))}
        values={values}
        faults={faults}
        stored={stored}
        isReadOnly={!mayWrite}
        onChange={setValues}
      />
      {chosen.length > 0 ? (
        <EntityFields
          account={{ source_id: endpoint.id }}
          values={values}
          faults={faults}
          isReadOnly={!mayWrite}
          onChange={setValues}
        />
      ) : null}
      {isStoredAnyway ? (
        <Alert
          color="yellow"
          variant="light"
          title="The new secret is stored all the same"
          role="alert"
        >
          Jobs use it from now on. Enter the right one, and save again.
        </Alert>
      ) : null}
      <SaveProblem
        error={problem}
        before={shownOf(before)}
        now={shownOf(endpoint)}
        onLoad={() => begin(endpoint)}
        onKeep={() => void save(endpoint)}
      />
      {mayWrite ? (
        <div>
          <Button type="submit" loading={isBusy} disabled={title.trim() === ""}>
            Save &amp; Test
          </Button>
        </div>
      ) : (
        <span className="dim">Only editors and administrators change settings.</span>
      )}
    </form>
  );
}

/** What the form of settings shows. */
const shownOf = ({ name, configuration }: Endpoint) => ({ name, configuration });

function LastCheck({ kind, endpoint }: Of) {
  const { mayRun } = useMe();
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  const { lastCheck } = endpoint;
  const check = async () => {
    setBusy(true);
    try {
      await (kind === "source"
        ? ask(
            api.POST("/sources/{source_id}/check", {
              params: { path: { source_id: endpoint.id } },
            }),
          )
        : ask(
            api.POST("/destinations/{destination_id}/check", {
              params: { path: { destination_id: endpoint.id } },
            }),
          ));
      await queries.invalidateQueries({ queryKey: ["in", kind] });
    } catch (error) {
      tell.problem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Last check
      </h2>
      {lastCheck === null ? (
        <span className="dim">It has not been checked since it was saved.</span>
      ) : (
        <>
          <div style={{ display: "flex", gap: "0.75rem", alignItems: "center" }}>
            <Status of={lastCheck.status} />
            <span className="dim">
              <Ago at={lastCheck.checked_at} />
            </span>
          </div>
          {lastCheck.message === null ? null : <span>{lastCheck.message}</span>}
        </>
      )}
      {mayRun ? (
        <div>
          <Button variant="default" size="xs" onClick={() => void check()} loading={isBusy}>
            Check now
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function UsedBy({ kind, endpoint }: Of) {
  const { mayWrite } = useMe();
  const pipelines = usePipelines();
  return (
    <section className="panel">
      <h2>Used by</h2>
      <Loaded query={pipelines}>
        {(all) => {
          const using = all.filter((one) => one[`${kind}_id`] === endpoint.id);
          if (using.length > 0)
            return (
              <div className="stack" style={{ gap: "0.6rem" }}>
                {using.map(({ pipeline_id: id, name, sync_state: state }) => (
                  <div key={id} style={{ display: "flex", gap: "0.75rem" }}>
                    <Link href={`/pipelines/${id}`} className="grow">
                      {name}
                    </Link>
                    <Status of={state} />
                  </div>
                ))}
              </div>
            );
          return (
            <span className="dim">
              No pipeline uses it.{" "}
              {mayWrite ? (
                <Link href={`/pipelines/new/${kind}/${endpoint.id}`}>Create one</Link>
              ) : null}
            </span>
          );
        }}
      </Loaded>
    </section>
  );
}

function Delete({ kind, endpoint }: Of) {
  const { mayWrite } = useMe();
  const [isOpen, { open, close }] = useDisclosure(false);
  const [, go] = useLocation();
  const queries = useQueryClient();
  if (!mayWrite) return null;
  const remove = async () => {
    const gone = await (kind === "source"
      ? ask(api.DELETE("/sources/{source_id}", { params: { path: { source_id: endpoint.id } } }))
      : ask(
          api.DELETE("/destinations/{destination_id}", {
            params: { path: { destination_id: endpoint.id } },
          }),
        ));
    tell.outcome(gone, `${endpoint.name} was deleted.`);
    if (isProposal(gone)) return;
    go(`/${kind}s`);
    await queries.invalidateQueries({ queryKey: ["in", kind, "list"] });
  };
  return (
    <>
      <div>
        <Button variant="subtle" color="red" size="xs" onClick={open}>
          Delete this {kind}
        </Button>
      </div>
      <Confirm
        title={`Delete ${endpoint.name}?`}
        label="Delete"
        isOpen={isOpen}
        onClose={close}
        run={remove}
      >
        <span>Rows that were read stay where they are. This cannot be undone.</span>
      </Confirm>
    </>
  );
}
