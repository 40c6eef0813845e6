import { Alert, Button, Modal } from "@mantine/core";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { api, ask, isProposal } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { disabledWords, eventWords, type WebhookEndpoint } from "../model/notifications.ts";
import { ifMatch, useSaving } from "../model/use-saving.ts";
import { plural, spoken } from "../model/words.ts";
import { Confirm } from "../parts/confirm.tsx";
import { Delete } from "../parts/delete.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { SaveProblem } from "../parts/meanwhile.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { byPage, PagedRows } from "../parts/paged-rows.tsx";
import { Row } from "../parts/row.tsx";
import { ShownOnce } from "../parts/shown-once.tsx";
import { Loaded } from "../parts/states.tsx";
import { Ago, Due, Status } from "../parts/status.tsx";
import { isWhole, WebhookFields, type WebhookParts, webhookBody } from "../parts/webhook-form.tsx";

const up = { to: "/notifications", label: "Notifications" };

/** One webhook: what it is sent, whether it takes it, and how it is tried. */
export default function WebhookPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "webhook-endpoints", id],
    queryFn: () =>
      ask(
        api.GET("/webhook-endpoints/{webhook_endpoint_id}", {
          params: { path: { webhook_endpoint_id: id } },
        }),
      ),
  });
  return (
    <Loaded query={query} before={<Head title="Webhook" up={up} />}>
      {(endpoint) => (
        <>
          <Head title={endpoint.name} up={up} aside={<Status of={endpoint.status} />}>
            <Actions endpoint={endpoint} />
          </Head>
          <div className="stack">
            {endpoint.disabled_reason === null ? null : (
              <Alert color="yellow" variant="light">
                {disabledWords[endpoint.disabled_reason]} Nothing is sent there until it is enabled.
              </Alert>
            )}
            <Settings endpoint={endpoint} />
            <Deliveries endpoint={endpoint} />
            <Remove endpoint={endpoint} />
          </div>
        </>
      )}
    </Loaded>
  );
}

interface Of {
  readonly endpoint: WebhookEndpoint;
}

function Actions({ endpoint }: Of) {
  const { mayWrite, isAdmin } = useMe();
  const { isBusy, act } = useAct();
  const queries = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [secret, setSecret] = useState<string>();
  const path = { webhook_endpoint_id: endpoint.webhook_endpoint_id };
  const isEnabled = endpoint.status === "enabled";
  const refresh = () => queries.invalidateQueries({ queryKey: ["in", "webhook-endpoints"] });
  const test = () =>
    act(async () => {
      const made = await ask(
        api.POST("/webhook-endpoints/{webhook_endpoint_id}/test", { params: { path } }),
      );
      notify.outcome(made, "A test is on its way: see the deliveries.");
      await refresh();
    });
  const turn = () =>
    act(async () => {
      const made = await ask(
        api.PATCH("/webhook-endpoints/{webhook_endpoint_id}", {
          params: { path, header: ifMatch(endpoint) },
          body: { status: isEnabled ? "disabled" : "enabled" },
        }),
      );
      notify.outcome(made, isEnabled ? "It is disabled." : "It is enabled.");
      await refresh();
    });
  const rotate = async () => {
    const made = await ask(
      api.POST("/webhook-endpoints/{webhook_endpoint_id}/rotate-secret", {
        params: { path },
        body: {},
      }),
    );
    if (isProposal(made)) notify.outcome(made, "");
    else setSecret(made.signing_secret ?? undefined);
  };
  return (
    <>
      {isAdmin && endpoint.format === "event" ? (
        <Button variant="default" onClick={() => setAsks(true)}>
          New secret
        </Button>
      ) : null}
      {isAdmin ? (
        <Button variant="default" loading={isBusy} onClick={() => void turn()}>
          {isEnabled ? "Disable" : "Enable"}
        </Button>
      ) : null}
      {mayWrite && isEnabled ? (
        <Button loading={isBusy} onClick={() => void test()}>
          Send a test
        </Button>
      ) : null}
      <Confirm
        title="A new signing secret?"
        label="Make a new one"
        keep="Keep the old one"
        isOpen={asks}
        onClose={() => setAsks(false)}
        run={rotate}
      >
        <span>
          For a day deliveries are signed with the old one too: change it there meanwhile.
        </span>
      </Confirm>
      <Modal
        opened={secret !== undefined}
        onClose={() => setSecret(undefined)}
        title="Keep its signing secret now"
        closeOnClickOutside={false}
        centered
      >
        <ShownOnce
          label="Signing secret"
          secret={secret ?? ""}
          warning="It is shown once."
          onClose={() => setSecret(undefined)}
        />
      </Modal>
    </>
  );
}

const partsOf = (one: WebhookEndpoint): WebhookParts => ({
  name: one.name,
  url: one.url,
  format: one.format,
  events: one.event_types,
});

function Settings({ endpoint }: Of) {
  const { isAdmin } = useMe();
  const [parts, setParts] = useState(() => partsOf(endpoint));
  const queries = useQueryClient();
  const saving = useSaving(endpoint, {
    refresh: () => queries.invalidateQueries({ queryKey: ["in", "webhook-endpoints"] }),
    show: (from) => setParts(partsOf(from)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.save(async (from) => {
      const made = await ask(
        api.PATCH("/webhook-endpoints/{webhook_endpoint_id}", {
          params: {
            path: { webhook_endpoint_id: from.webhook_endpoint_id },
            header: ifMatch(from),
          },
          body: webhookBody(parts),
        }),
      );
      notify.outcome(made, "Saved.");
      return made;
    });
  };
  return (
    <form className="form wide panel" noValidate onSubmit={submit}>
      <WebhookFields
        value={parts}
        faults={saving.problem?.fields ?? {}}
        isReadOnly={!isAdmin}
        onChange={setParts}
      />
      <SaveProblem saving={saving} shownOf={shownOf} fields={["name", "url"]} />
      {isAdmin ? (
        <div>
          <Button type="submit" loading={saving.isBusy} disabled={!isWhole(parts)}>
            Save
          </Button>
        </div>
      ) : (
        <span className="dim">Only administrators change webhooks.</span>
      )}
    </form>
  );
}

/** The values in the form. */
const shownOf = ({ name, url, format, event_types: events }: WebhookEndpoint) => ({
  name,
  url,
  format,
  events: events ?? "everything",
});

function Deliveries({ endpoint: { webhook_endpoint_id: id, status } }: Of) {
  const { mayWrite } = useMe();
  const { act } = useAct();
  const query = useInfiniteQuery({
    queryKey: ["in", "webhook-endpoints", id, "deliveries"],
    queryFn: ({ pageParam }) =>
      ask(
        api.GET("/webhook-endpoints/{webhook_endpoint_id}/deliveries", {
          params: { path: { webhook_endpoint_id: id }, query: { limit: 50, cursor: pageParam } },
        }),
      ),
    ...byPage,
    refetchInterval: 5_000,
  });
  const again = (deliveryId: string) =>
    act(async () => {
      const made = await ask(
        api.POST("/webhook-endpoints/{webhook_endpoint_id}/deliveries/{delivery_id}/redeliver", {
          params: { path: { webhook_endpoint_id: id, delivery_id: deliveryId } },
        }),
      );
      notify.outcome(made, "It is sent again.");
      await query.refetch();
    });
  return (
    <section>
      <h2 className="section">Deliveries</h2>
      <PagedRows query={query} none="Nothing was sent yet. “Send a test” sends something at once.">
        {(items) =>
          items.map((one) => (
            <Row
              key={one.delivery_id}
              name={eventWords(one.event_type)}
              detail={answerOf(one)}
              later={<Ago at={one.created_at} />}
              right={
                <span className="buttons">
                  {mayWrite && status === "enabled" && one.status === "failed" ? (
                    <Button size="xs" variant="default" onClick={() => void again(one.delivery_id)}>
                      Send again
                    </Button>
                  ) : null}
                  <Status of={one.status} />
                </span>
              }
            />
          ))
        }
      </PagedRows>
    </section>
  );
}

/** Its last answer, and when it is tried again. */
function answerOf({ attempts, next_attempt_at: next }: schemas["WebhookDelivery"]) {
  const last = attempts.at(-1);
  if (last === undefined) return "Not sent yet";
  const answer =
    last.response_status === null
      ? spoken((last.error_code ?? "no answer").toLowerCase())
      : `Answered ${last.response_status} in ${last.duration_ms} ms`;
  return (
    <>
      {answer}
      {attempts.length > 1 ? `, ${plural(attempts.length, "try", "tries")}` : ""}
      {next === null ? null : (
        <>
          , again <Due at={next} />
        </>
      )}
    </>
  );
}

function Remove({ endpoint }: Of) {
  const { isAdmin } = useMe();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const { name, webhook_endpoint_id: id } = endpoint;
  const remove = async () => {
    const gone = await ask(
      api.DELETE("/webhook-endpoints/{webhook_endpoint_id}", {
        params: { path: { webhook_endpoint_id: id }, header: ifMatch(endpoint) },
      }),
    );
    if (notify.outcome(gone, `${name} was deleted.`)) go("/notifications");
    await queries.invalidateQueries({ queryKey: ["in", "webhook-endpoints", "list"] });
  };
  return (
    <Delete name={name} label="Delete this webhook" may={isAdmin} run={remove}>
      Nothing is sent there any more, and the log of its deliveries is deleted.
    </Delete>
  );
}
