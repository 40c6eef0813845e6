import { Button, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import {
  type Endpoint,
  fromDestination,
  fromSource,
  type Kind,
  useCredentials,
  useEndpoints,
  usePipelines,
} from "../model/queries.ts";
import { update } from "../model/save.ts";
import { fieldsOf, fieldsWithout, namesOf, type Values } from "../model/spec.ts";
import { faultsOf, refusedFields } from "../model/spec-faults.ts";
import { useSaving } from "../model/use-saving.ts";
import { spoken } from "../model/words.ts";
import { CredentialPanel } from "../parts/credential-panel.tsx";
import { Delete } from "../parts/delete.tsx";
import {
  EntityFields,
  entityFields,
  hasEntities,
  missingEntities,
} from "../parts/entity-fields.tsx";
import { useFaultFocus } from "../parts/fault-focus.ts";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { SpecFields } from "../parts/spec-form.tsx";
import { Loaded, ProblemNote } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { StoredAnywayNote } from "../parts/stored-anyway.tsx";

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
  // Asked for beside it: what stands above the form must not push it down later.
  const pipelines = usePipelines();
  const others = useEndpoints(otherOf(kind));
  const using = pipelines.data?.filter((one) => one[`${kind}_id`] === id);
  const up = { to: `/${kind}s`, label: `${spoken(kind)}s` };
  return (
    <Loaded query={query} before={<Head title={spoken(kind)} up={up} />}>
      {({ endpoint, spec }) => (
        <>
          <Head title={endpoint.name} up={up} />
          <div className="stack">
            {using?.length === 0 && others.data ? (
              <Next kind={kind} id={id} isReady={others.data.length > 0} />
            ) : null}
            <div className="columns">
              <Settings kind={kind} endpoint={endpoint} spec={spec} />
              <div className="stack" style={{ alignContent: "start" }}>
                {pipelines.isError ? (
                  <ProblemNote error={pipelines.error} onRetry={() => void pipelines.refetch()} />
                ) : null}
                {using && using.length > 0 ? <UsedBy pipelines={using} /> : null}
                <LastCheck kind={kind} endpoint={endpoint} />
                <CredentialPanel endpoint={endpoint} />
                <Remove kind={kind} endpoint={endpoint} />
              </div>
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
  const fields = fieldsWithout(fieldsOf(schema), isConnected ? byAccount : []);
  const chosen: readonly string[] = isConnected && hasEntities(fields) ? entityFields : [];
  const { mayWrite } = useMe();
  const [title, setTitle] = useState(endpoint.name);
  const [values, setValues] = useState<Values>(endpoint.configuration);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const queries = useQueryClient();
  const stored =
    endpoint.credentialHandle === null
      ? []
      : [...spec.secret_fields, ...(isConnected ? byAccount : [])];
  const show = (from: Endpoint) => {
    setTitle(from.name);
    setValues(from.configuration);
  };
  const saving = useSaving(endpoint, {
    async refresh() {
      await queries.invalidateQueries({ queryKey: ["in", kind] });
      await queries.invalidateQueries({ queryKey: ["in", "credentials"] });
    },
    show,
  });
  const { isBusy, problem } = saving;
  const form = useFaultFocus(faults, problem);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = {
      ...faultsOf(schema, values, stored),
      ...(chosen.length > 0 ? missingEntities(values) : {}),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const { connectorId } = endpoint;
    const { start_path: startPath } = spec.auth;
    saving.save(async (from) => {
      const made = await update(
        { kind, name: title, connectorId, fields, values, startPath },
        from,
      );
      notify.outcome(made, `${title} works and was saved.`);
      if (!isProposal(made)) show(made);
      return made;
    });
  };
  return (
    <form className="form panel" ref={form} noValidate onSubmit={submit}>
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
        faults={{ ...refusedFields(problem, fields, values), ...faults }}
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
      <StoredAnywayNote problem={problem} />
      <SaveProblem saving={saving} shownOf={shownOf} fields={namesOf(fields)} />
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

/** The values in the form of settings. */
const shownOf = ({ name, configuration }: Endpoint) => ({ name, configuration });

function LastCheck({ kind, endpoint }: Of) {
  const { mayRun } = useMe();
  const { isBusy, act } = useAct();
  const queries = useQueryClient();
  const { lastCheck, id } = endpoint;
  const check = () =>
    act(async () => {
      await (kind === "source"
        ? ask(api.POST("/sources/{source_id}/check", { params: { path: { source_id: id } } }))
        : ask(
            api.POST("/destinations/{destination_id}/check", {
              params: { path: { destination_id: id } },
            }),
          ));
      await queries.invalidateQueries({ queryKey: ["in", kind] });
    });
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

const UsedBy = ({ pipelines }: { readonly pipelines: readonly schemas["Pipeline"][] }) => (
  <section className="panel">
    <h2>Used by</h2>
    <ul className="plain">
      {pipelines.map(({ pipeline_id: id, name, sync_state: state }) => (
        <li key={id} className="stream-line">
          <Link href={`/pipelines/${id}`}>{name}</Link>
          <span />
          <Status of={state} />
        </li>
      ))}
    </ul>
  </section>
);

const otherOf = (kind: Kind): Kind => (kind === "source" ? "destination" : "source");

/**
 * The next step with it, while nothing uses it: above all else, also where the screen is narrow.
 */
function Next({
  kind,
  id,
  isReady,
}: {
  readonly kind: Kind;
  readonly id: string;
  /** Whether there is something that it can be joined with. */
  readonly isReady: boolean;
}) {
  const { mayWrite } = useMe();
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        {mayWrite ? "Next" : "Used by"}
      </h2>
      <span>
        {isReady
          ? "No pipeline uses it yet. A pipeline reads streams of a source into a destination."
          : kind === "source"
            ? "Its rows need somewhere to go. DuckDB is a file beside the server and needs nothing."
            : "It needs a source, of which rows are read."}
      </span>
      {mayWrite ? (
        <div>
          <Button
            component={Link}
            href={isReady ? `/pipelines/new/${kind}/${id}` : `/${otherOf(kind)}s/new`}
          >
            {isReady ? "Create a pipeline" : `Add a ${otherOf(kind)}`}
          </Button>
        </div>
      ) : null}
    </section>
  );
}

function Remove({ kind, endpoint: { id, name } }: Of) {
  const [, go] = useLocation();
  const queries = useQueryClient();
  const remove = async () => {
    const gone = await (kind === "source"
      ? ask(api.DELETE("/sources/{source_id}", { params: { path: { source_id: id } } }))
      : ask(
          api.DELETE("/destinations/{destination_id}", {
            params: { path: { destination_id: id } },
          }),
        ));
    if (notify.outcome(gone, `${name} was deleted.`)) go(`/${kind}s`);
    await queries.invalidateQueries({ queryKey: ["in", kind, "list"] });
  };
  return (
    <Delete name={name} label={`Delete this ${kind}`} run={remove}>
      Rows that were read stay where they are. This cannot be undone.
    </Delete>
  );
}
