import { Button, Checkbox, Modal, SegmentedControl } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import {
  disabledWords,
  formatWords,
  useNotificationSettings,
  useWebhookEndpoints,
} from "../model/notifications.ts";
import { useWork } from "../model/use-work.ts";
import { plural } from "../model/words.ts";
import { DialogForm } from "../parts/dialog-form.tsx";
import { EventChoice } from "../parts/event-choice.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { notify } from "../parts/notify.ts";
import { useMembers } from "../parts/people.ts";
import { Row } from "../parts/row.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Loaded, ProblemNote } from "../parts/states.tsx";
import { Ago, Status } from "../parts/status.tsx";
import { isWhole, WebhookFields, type WebhookParts, webhookBody } from "../parts/webhook-form.tsx";

/** Who is mailed of what happens, and which programs are sent it. */
export default function Notifications() {
  const { mayWrite } = useMe();
  const settings = useNotificationSettings();
  return (
    <>
      <Head title="Notifications" />
      <div className="stack">
        <Loaded query={settings}>{(data) => <Mails key={data.version} settings={data} />}</Loaded>
        {mayWrite ? <Webhooks /> : null}
      </div>
    </>
  );
}

function Mails({ settings }: { readonly settings: schemas["NotificationSettings"] }) {
  const { isAdmin } = useMe();
  const [events, setEvents] = useState(settings.event_types);
  const [members, setMembers] = useState(settings.member_ids);
  const { data: all = [] } = useMembers();
  const { isBusy, problem, run } = useWork();
  const queries = useQueryClient();
  const active = all.flatMap(({ status, member_id: id, name, email }) =>
    status === "active" && id !== null ? [{ id, name, email }] : [],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void run(async () => {
      const made = await ask(
        api.PATCH("/notification-settings", { body: { event_types: events, member_ids: members } }),
      );
      notify.outcome(made, "Saved.");
      await queries.invalidateQueries({ queryKey: ["in", "notification-settings"] });
    });
  };
  return (
    <form className="panel stack" noValidate onSubmit={submit}>
      <h2 className="section" style={{ margin: 0 }}>
        By mail
      </h2>
      <EventChoice chosen={events} isReadOnly={!isAdmin} onChange={setEvents} />
      <div className="stack" style={{ gap: "0.6rem" }}>
        <div className="section" style={{ margin: 0 }}>
          To whom
        </div>
        <SegmentedControl
          aria-label="To whom"
          value={members === null ? "all" : "some"}
          disabled={!isAdmin}
          onChange={(next) => setMembers(next === "all" ? null : active.map(({ id }) => id))}
          data={[
            { value: "all", label: "Everybody here" },
            { value: "some", label: "Some people" },
          ]}
          style={{ justifySelf: "start" }}
        />
        {members === null
          ? null
          : active.map(({ id, name, email }) => (
              <Checkbox
                key={id}
                label={<bdi>{name ?? email}</bdi>}
                description={name === null ? undefined : email}
                checked={members.includes(id)}
                disabled={!isAdmin}
                onChange={(event) =>
                  setMembers(
                    event.currentTarget.checked
                      ? [...members, id]
                      : members.filter((one) => one !== id),
                  )
                }
              />
            ))}
        <span className="dim">
          What only administrators may know goes to administrators alone. Mails need a mail server
          in the settings of this server.
        </span>
      </div>
      {problem === undefined ? null : <ProblemNote error={problem} />}
      {isAdmin ? (
        <div>
          <Button type="submit" loading={isBusy}>
            Save
          </Button>
        </div>
      ) : (
        <span className="dim">Only administrators change who is mailed.</span>
      )}
    </form>
  );
}

function Webhooks() {
  const { isAdmin } = useMe();
  const endpoints = useWebhookEndpoints(true);
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <section>
      <div className="actions" style={{ marginBottom: "0.9rem" }}>
        <h2 className="section grow" style={{ margin: 0 }}>
          Webhooks
        </h2>
        {isAdmin ? (
          <Button size="xs" onClick={open}>
            Add a webhook
          </Button>
        ) : null}
      </div>
      <Loaded query={endpoints}>
        {(all) =>
          all.length === 0 ? (
            <div className="panel dim">
              None yet. A program of yours, or a channel of Slack, is sent what happens here.
            </div>
          ) : (
            <ul className="rows">
              {all.map((one) => (
                <Row
                  key={one.webhook_endpoint_id}
                  to={`/webhooks/${one.webhook_endpoint_id}`}
                  name={one.name}
                  about={formatWords[one.format]}
                  detail={
                    one.disabled_reason === null ? (
                      <bdi>{one.url}</bdi>
                    ) : (
                      disabledWords[one.disabled_reason]
                    )
                  }
                  later={
                    one.event_types === null ? (
                      "Everything"
                    ) : (
                      <>
                        {plural(one.event_types.length, "kind of event", "kinds of events")},
                        changed <Ago at={one.updated_at} />
                      </>
                    )
                  }
                  right={<Status of={one.status} />}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {isOpen ? <NewWebhook onClose={close} /> : null}
    </section>
  );
}

function NewWebhook({ onClose }: { readonly onClose: () => void }) {
  const [parts, setParts] = useState<WebhookParts>({
    name: "",
    url: "",
    format: "event",
    events: null,
  });
  const [made, setMade] = useState<schemas["CreateWebhookEndpointResult"]>();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const work = useWork();
  const create = () =>
    void work.run(async () => {
      const answer = await ask(api.POST("/webhook-endpoints", { body: webhookBody(parts) }));
      await queries.invalidateQueries({ queryKey: ["in", "webhook-endpoints"] });
      if (isProposal(answer)) {
        notify.outcome(answer, "");
        onClose();
      } else if (answer.format === "slack" || answer.signing_secret === null)
        go(`/webhooks/${answer.webhook_endpoint_id}`);
      else setMade(answer);
    });
  return (
    <Modal
      opened
      onClose={onClose}
      title={made === undefined ? "Add a webhook" : "Keep its signing secret now"}
      closeOnClickOutside={false}
      size="lg"
      centered
    >
      {made === undefined ? (
        <DialogForm
          work={work}
          label="Add"
          isReady={isWhole(parts)}
          onSubmit={create}
          onClose={onClose}
        >
          <WebhookFields value={parts} faults={work.problem?.fields ?? {}} onChange={setParts} />
        </DialogForm>
      ) : (
        <ShownOnce
          label="Signing secret"
          secret={made.signing_secret ?? ""}
          warning="It is shown once. With it your program knows that a delivery comes from here."
          onClose={() => go(`/webhooks/${made.webhook_endpoint_id}`)}
        >
          Deliveries are signed as Standard Webhooks says.
        </ShownOnce>
      )}
    </Modal>
  );
}
