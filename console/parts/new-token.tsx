/** A token for an agent, a program or a terminal. It is shown once. */
import { Alert, Button, Modal, NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useWork } from "../model/use-work.ts";
import { moment } from "../model/words.ts";
import { DialogForm } from "./dialog-form.tsx";
import { notify } from "./notify.ts";
import { RoleField } from "./role-field.tsx";
import { ShownOnce } from "./shown-once.tsx";

const users = [
  { value: "mcp", label: "An agent: its changes wait for approval" },
  { value: "api", label: "A program: it does at once what its role may" },
  { value: "cli", label: "A person at a terminal" },
];

/** Days of a program's token; of others half a day would be the server's own. */
const firstDays: Readonly<Record<schemas["Client"], number>> = { mcp: 7, api: 90, cli: 1 };

export function NewToken({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<schemas["CreateSessionResult"]>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={titleOf(made)}
      closeOnClickOutside={made === undefined}
      centered
    >
      {made === undefined ? (
        <Form onMade={setMade} onClose={onClose} />
      ) : made.token === null ? (
        <Lost session={made} onClose={onClose} />
      ) : (
        <Made session={made} onClose={onClose} />
      )}
    </Modal>
  );
}

const titleOf = (made: schemas["CreateSessionResult"] | undefined): string => {
  if (made === undefined) return "Create a token";
  return made.token === null ? "The token got lost on the way" : "Keep the token now";
};

function Form({
  onMade,
  onClose,
}: {
  readonly onMade: (made: schemas["CreateSessionResult"]) => void;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [client, setClient] = useState<schemas["Client"]>("mcp");
  const [role, setRole] = useState<schemas["Role"]>("editor");
  const [days, setDays] = useState(firstDays.mcp);
  const work = useWork();
  const queries = useQueryClient();
  const create = () =>
    work.run(async () => {
      const made = await ask(
        api.POST("/sessions", { body: { name: name.trim(), client, role, expires_in_days: days } }),
      );
      if (isProposal(made)) {
        notify.outcome(made, "");
        onClose();
      } else onMade(made);
      await queries.invalidateQueries({ queryKey: ["in", "sessions"] });
    });
  return (
    <DialogForm
      work={work}
      label="Create"
      isReady={name.trim() !== ""}
      onSubmit={() => void create()}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="By which you know it in the list."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={work.problem?.fields.name}
        required
        data-autofocus
      />
      <NativeSelect
        label="Who uses it"
        value={client}
        data={users}
        onChange={(event) => {
          const next = event.currentTarget.value as schemas["Client"];
          setClient(next);
          setDays(firstDays[next]);
        }}
      />
      <RoleField
        value={role}
        description="The most that it may do; never more than you."
        onChange={setRole}
      />
      <NumberInput
        label="Days that it is good"
        value={days}
        min={1}
        max={365}
        w="14rem"
        onChange={(next) => setDays(Number(next) || 1)}
      />
    </DialogForm>
  );
}

/** The answer with it did not come, and what is asked again does not show it again. */
const Lost = ({
  session: { name },
  onClose,
}: {
  readonly session: schemas["CreateSessionResult"];
  readonly onClose: () => void;
}) => (
  <div className="stack">
    <Alert color="yellow" variant="light" role="alert">
      The connection was interrupted while it was being shown, and it is shown once. Revoke{" "}
      <bdi>{name}</bdi> in the list, and create another one.
    </Alert>
    <div className="actions">
      <Button variant="default" onClick={onClose}>
        Close
      </Button>
    </div>
  </div>
);

const Made = ({
  session: { token, expires_at: ends, client },
  onClose,
}: {
  readonly session: schemas["CreateSessionResult"];
  readonly onClose: () => void;
}) => (
  <ShownOnce
    label="The token"
    secret={token ?? ""}
    warning="It is shown here and never again. Whoever has it can do what it may."
    onClose={onClose}
  >
    It ends {moment(ends)}.{client === "mcp" ? " The agent's tools are at this server's /mcp." : ""}
  </ShownOnce>
);
