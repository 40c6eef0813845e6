import { Button, Modal, NativeSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { ifMatch } from "../model/use-saving.ts";
import { useWork } from "../model/use-work.ts";
import { spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { DialogForm } from "../parts/dialog-form.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { useMembers } from "../parts/people.ts";
import { RoleField } from "../parts/role-field.tsx";
import { Row } from "../parts/row.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Loaded } from "../parts/states.tsx";
import { Ago, Due } from "../parts/status.tsx";

type Member = schemas["Member"];
type Invitation = schemas["Invitation"];

/** Who is in the workspace, as what, and who is invited. */
export default function People() {
  const { isAdmin } = useMe();
  const members = useMembers();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Head title="People">{isAdmin ? <Button onClick={open}>Invite somebody</Button> : null}</Head>
      <div className="stack">
        <Loaded query={members}>
          {(all) => (
            <ul className="rows">
              {all.map((one) => (
                <MemberRow key={one.member_id} member={one} />
              ))}
            </ul>
          )}
        </Loaded>
        {isAdmin ? (
          <Invitations />
        ) : (
          <span className="dim">Administrators invite people and change their roles.</span>
        )}
      </div>
      {isOpen ? <Invite onClose={close} /> : null}
    </>
  );
}

function MemberRow({ member }: { readonly member: Member }) {
  const { me, isAdmin, workspaceId = "" } = useMe();
  const [asks, { open, close }] = useDisclosure(false);
  const queries = useQueryClient();
  const { name, email, role, member_id: id, version = 0, last_active_at: active } = member;
  const isMe = member.user_id === me.user_id;
  const label = name ?? email;
  const reload = () => queries.invalidateQueries({ queryKey: ["in", "members"] });
  const params = {
    path: { workspace_id: workspaceId, member_id: id ?? "" },
    header: ifMatch({ version }),
  };
  const { isBusy, act } = useAct();
  const setRole = (next: schemas["Role"]) =>
    act(async () => {
      try {
        const made = await ask(
          api.PATCH("/workspaces/{workspace_id}/members/{member_id}", {
            params,
            body: { role: next },
          }),
        );
        notify.outcome(made, `${label} is ${next} now.`);
        if (isMe) await queries.invalidateQueries({ queryKey: ["me"] });
      } finally {
        await reload();
      }
    });
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/workspaces/{workspace_id}/members/{member_id}", { params }),
    );
    notify.outcome(gone, `${label} is not in this workspace any more.`);
    await (isMe ? queries.invalidateQueries() : reload());
  };
  return (
    <Row
      name={label}
      badge={isMe ? "You" : undefined}
      about={name === null ? undefined : email}
      detail={
        isAdmin ? (
          <NativeSelect
            aria-label={`Role of ${label}`}
            size="xs"
            maw="10rem"
            value={role}
            disabled={isBusy}
            data={(["viewer", "runner", "editor", "admin"] as const).map((value) => ({
              value,
              label: spoken(value),
            }))}
            onChange={(event) => void setRole(event.currentTarget.value as schemas["Role"])}
          />
        ) : (
          spoken(role)
        )
      }
      later={
        active === null ? (
          "Was not here yet"
        ) : (
          <>
            Was here <Ago at={active} />
          </>
        )
      }
      right={
        isAdmin ? (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`Remove ${label}`}
            onClick={open}
          >
            Remove
          </Button>
        ) : null
      }
    >
      <Confirm
        title={`Remove ${label}?`}
        label="Remove"
        keep="Keep them"
        isOpen={asks}
        onClose={close}
        run={remove}
        isDangerous
      >
        <span>
          {isMe ? "You leave this workspace, and see nothing of it any more. " : ""}
          Sessions and tokens for this workspace end at once. Credentials that were stored stay:
          they are the workspace's.
        </span>
      </Confirm>
    </Row>
  );
}

const useInvitations = () => {
  const { workspaceId = "" } = useMe();
  return useQuery({
    queryKey: ["in", "invitations"],
    queryFn: () =>
      ask(
        api.GET("/workspaces/{workspace_id}/members/invitations", {
          params: {
            path: { workspace_id: workspaceId },
            query: { status: "pending", limit: 200 },
          },
        }),
      ),
    refetchInterval: 10_000,
  });
};

function Invitations() {
  const invitations = useInvitations();
  return (
    <section>
      <h2 className="section">Invited</h2>
      <Loaded query={invitations}>
        {({ items }) =>
          items.length === 0 ? (
            <span className="dim">No invitation is open.</span>
          ) : (
            <ul className="rows">
              {items.map((one) => (
                <InvitationRow key={one.invitation_id} invitation={one} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

const delivered: Readonly<Record<Invitation["delivery"], string>> = {
  pending: "The mail is on its way",
  sent: "The mail was sent",
  kept: "No mail server is set: the mail lies in the server's folder outbox",
  failed: "The mail could not be sent. Send it again; if it fails again, ask the operator.",
};

function InvitationRow({ invitation }: { readonly invitation: Invitation }) {
  const { email, role, delivery, expires_at: ends, invitation_id: id } = invitation;
  const { workspaceId = "" } = useMe();
  const queries = useQueryClient();
  const { isBusy, act } = useAct();
  const [asks, { open, close }] = useDisclosure(false);
  const [made, setMade] = useState<schemas["MadeInvitation"]>();
  const params = { path: { workspace_id: workspaceId, invitation_id: id } };
  const reload = () => queries.invalidateQueries({ queryKey: ["in", "invitations"] });
  const resend = () =>
    act(async () => {
      const made = await ask(
        api.POST("/workspaces/{workspace_id}/members/invitations/{invitation_id}/resend", {
          params,
        }),
      );
      if (notify.outcome(made, "Sent again. The link that was sent before has ended."))
        setMade(made as schemas["MadeInvitation"]);
      await reload();
    });
  const revoke = async () => {
    const made = await ask(
      api.POST("/workspaces/{workspace_id}/members/invitations/{invitation_id}/revoke", {
        params,
      }),
    );
    notify.outcome(made, "Withdrawn. Its link has ended.");
    await reload();
  };
  return (
    <Row
      name={email}
      about={spoken(role)}
      detail={
        <span className={delivery === "failed" ? "wrong" : undefined}>{delivered[delivery]}</span>
      }
      later={
        <>
          Ends <Due at={ends} />
        </>
      }
      right={
        <span className="buttons">
          <Button
            size="xs"
            variant="subtle"
            aria-label={`Send again to ${email}`}
            loading={isBusy}
            onClick={() => void resend()}
          >
            Send again
          </Button>
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`Withdraw the invitation of ${email}`}
            onClick={open}
          >
            Withdraw
          </Button>
        </span>
      }
    >
      <Confirm
        title={`Withdraw the invitation of ${email}?`}
        label="Withdraw"
        isOpen={asks}
        onClose={close}
        run={revoke}
        isDangerous
      >
        <span>The link that was sent ends at once. You can invite them again.</span>
      </Confirm>
      <LinkToHandOn of={made} onClose={() => setMade(undefined)} />
    </Row>
  );
}

/** Where no mail server brings the link, who invites does. */
const LinkToHandOn = ({
  of: made,
  onClose,
}: {
  readonly of: schemas["MadeInvitation"] | undefined;
  readonly onClose: () => void;
}) =>
  made?.link == null ? null : (
    <Modal opened onClose={onClose} title="Hand this link on" closeOnClickOutside={false} centered>
      <ShownOnce
        label="The link"
        secret={made.link}
        warning="This server has no mail server to send it by. It is shown here and never again; whoever opens it is in."
        onClose={onClose}
      >
        It is for {made.email}, and ends <Due at={made.expires_at} />.
      </ShownOnce>
    </Modal>
  );

function Invite({ onClose }: { readonly onClose: () => void }) {
  const [made, setMade] = useState<schemas["MadeInvitation"]>();
  const { workspaceId = "" } = useMe();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<schemas["Role"]>("viewer");
  const [days, setDays] = useState(7);
  const [message, setMessage] = useState("");
  const work = useWork();
  const queries = useQueryClient();
  const send = () =>
    work.run(async () => {
      const answer = await ask(
        api.POST("/workspaces/{workspace_id}/members/invitations", {
          params: { path: { workspace_id: workspaceId } },
          body: {
            email: email.trim(),
            role,
            expires_in_days: days,
            ...(message.trim() === "" ? {} : { message: message.trim() }),
          },
        }),
      );
      const isDone = notify.outcome(answer, `${email.trim()} is invited.`);
      const { link } = answer as schemas["MadeInvitation"];
      if (isDone && link !== null) setMade(answer as schemas["MadeInvitation"]);
      else onClose();
      await queries.invalidateQueries({ queryKey: ["in", "invitations"] });
    });
  if (made !== undefined) return <LinkToHandOn of={made} onClose={onClose} />;
  return (
    <Modal opened onClose={onClose} title="Invite somebody" centered>
      <DialogForm
        work={work}
        label="Invite"
        isReady={email.trim() !== ""}
        onSubmit={() => void send()}
        onClose={onClose}
      >
        <TextInput
          type="email"
          label="E-mail address"
          description="A link goes there. Whoever opens it is in."
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
          error={work.problem?.fields.email}
          required
          data-autofocus
        />
        <RoleField value={role} onChange={setRole} />
        <NumberInput
          label="Days that the link is good"
          value={days}
          min={1}
          max={30}
          w="14rem"
          onChange={(next) => setDays(Number(next) || 7)}
        />
        <Textarea
          label="Message"
          value={message}
          onChange={(event) => setMessage(event.currentTarget.value)}
          maxLength={1_000}
          autosize
          minRows={2}
        />
      </DialogForm>
    </Modal>
  );
}
