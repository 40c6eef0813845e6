/** The credential of an endpoint: whether it works, when it ends, and how it is connected again. */
import { Alert, Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { type Endpoint, useCredentials } from "../model/queries.ts";
import { spoken } from "../model/words.ts";
import { ConnectAccount } from "./connect-account.tsx";
import { useMe } from "./me.tsx";
import { notify } from "./notify.ts";
import { Loaded } from "./states.tsx";
import { Ago, Due, Status } from "./status.tsx";

type Credential = schemas["Credential"];

export function CredentialPanel({ endpoint }: { readonly endpoint: Endpoint }) {
  const credentials = useCredentials();
  if (endpoint.credentialHandle === null) return null;
  return (
    <section className="panel stack" style={{ gap: "0.75rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Login
      </h2>
      <Loaded query={credentials}>
        {(all) => {
          const found = all.find((one) => one.credential_handle === endpoint.credentialHandle);
          return found ? (
            <Details credential={found} endpoint={endpoint} />
          ) : (
            <span className="dim">It is not there any more.</span>
          );
        }}
      </Loaded>
    </section>
  );
}

const kinds: Readonly<Record<Credential["auth_type"], string>> = {
  api_key: "A secret that was entered",
  basic: "A user and a password",
  custom: "Secrets that were entered",
  oauth2: "A connected account",
};

function Details({
  credential,
  endpoint,
}: {
  readonly credential: Credential;
  readonly endpoint: Endpoint;
}) {
  const { mayWrite } = useMe();
  const queries = useQueryClient();
  const { auth_type: type, status, last_error: error } = credential;
  const isConnected = type === "oauth2";
  return (
    <>
      <div className="actions">
        <Status of={status} />
        <span className="dim">{kinds[type]}</span>
      </div>
      {error === null || status === "active" ? null : (
        <Alert color="red" variant="light">
          {spoken(error.reason)}, <Ago at={error.at} />.
          {isConnected ? " Connect it again." : " Enter new secrets."}
        </Alert>
      )}
      {isConnected && mayWrite ? (
        <ConnectAccount
          label="Connect again"
          isAgain
          connecting={{ connectorId: endpoint.connectorId, sourceId: endpoint.id, input: {} }}
          onDone={() => {
            notify.done("It is connected again. Everything that uses it goes on.");
            void queries.invalidateQueries({ queryKey: ["in"] });
          }}
        />
      ) : null}
      {isConnected ? null : <EndDate credential={credential} />}
    </>
  );
}

/** The day that the provider named when the token was made: nobody finds out by a failing sync. */
function EndDate({ credential }: { readonly credential: Credential }) {
  const { mayWrite } = useMe();
  const { secrets_expire_at: at, credential_id: id, version } = credential;
  const [day, setDay] = useState(at?.slice(0, 10) ?? "");
  const [isBusy, setBusy] = useState(false);
  const queries = useQueryClient();
  if (!mayWrite)
    return at === null ? null : (
      <span>
        Ends <Due at={at} />
      </span>
    );
  const save = async () => {
    setBusy(true);
    try {
      const made = await ask(
        api.PATCH("/credentials/{credential_id}", {
          params: { path: { credential_id: id }, header: { "If-Match": `"v${version}"` } },
          body: { secrets_expire_at: day === "" ? null : `${day}T00:00:00.000Z` },
        }),
      );
      notify.outcome(made, day === "" ? "It has no end." : "You are told before it ends.");
    } catch (error) {
      notify.problem(error);
    } finally {
      await queries.invalidateQueries({ queryKey: ["in", "credentials"] });
      setBusy(false);
    }
  };
  const isSame = day === (at?.slice(0, 10) ?? "");
  return (
    <div className="actions" style={{ alignItems: "end" }}>
      <TextInput
        type="date"
        label="Ends on"
        description={at === null ? "Where its provider has said so." : undefined}
        size="xs"
        value={day}
        onChange={(event) => setDay(event.currentTarget.value)}
      />
      <Button
        size="xs"
        variant="default"
        disabled={isSame}
        loading={isBusy}
        onClick={() => void save()}
      >
        Save
      </Button>
      {at === null ? null : (
        <span className="dim">
          Ends <Due at={at} />
        </span>
      )}
    </div>
  );
}
