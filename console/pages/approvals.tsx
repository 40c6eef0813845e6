import { Switch, Tabs } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { usePending } from "../model/approvals.ts";
import { ifMatch } from "../model/use-saving.ts";
import { spoken } from "../model/words.ts";
import { ApprovalRows } from "../parts/approval-rows.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { notify, useAct } from "../parts/notify.ts";
import { usePersonNames } from "../parts/people.ts";
import { Row } from "../parts/row.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { Ago } from "../parts/status.tsx";

/** Proposals that wait for a decision, those decided, and the rules that ask for one. */
export default function Approvals() {
  return (
    <>
      <Head title="Approvals" />
      <Tabs defaultValue="pending" keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="pending">Waiting</Tabs.Tab>
          <Tabs.Tab value="decided">Decided</Tabs.Tab>
          <Tabs.Tab value="policies">Policies</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="pending">
          <Pending />
        </Tabs.Panel>
        <Tabs.Panel value="decided">
          <Decided />
        </Tabs.Panel>
        <Tabs.Panel value="policies">
          <Policies />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function Pending() {
  const { mayApprove } = useMe();
  const pending = usePending();
  return (
    <Loaded query={pending}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty
            title="Nothing waits"
            text="What an agent wants to change, or who asks for it as a proposal, waits here until an administrator decides."
          />
        ) : (
          <div className="stack">
            {mayApprove ? null : (
              <span className="dim">
                Administrators decide. What you have proposed you can withdraw.
              </span>
            )}
            <ApprovalRows approvals={items} />
          </div>
        )
      }
    </Loaded>
  );
}

function Decided() {
  const decided = useQuery({
    queryKey: ["in", "approvals", "decided"],
    queryFn: () => ask(api.GET("/approvals", { params: { query: { limit: 100 } } })),
    refetchInterval: 10_000,
  });
  return (
    <Loaded query={decided}>
      {({ items }) => {
        const found = items.filter(({ status }) => status !== "pending");
        return found.length === 0 ? (
          <Empty
            title="Nothing was decided yet"
            text="Each decision stays here, with its reason."
          />
        ) : (
          <ApprovalRows approvals={found} />
        );
      }}
    </Loaded>
  );
}

function Policies() {
  const policies = useQuery({
    queryKey: ["in", "approval-policies"],
    queryFn: () => ask(api.GET("/approval-policies", { params: { query: { limit: 100 } } })),
  });
  const { isAdmin } = useMe();
  return (
    <Loaded query={policies}>
      {({ items }) => (
        <div className="stack">
          <span className="dim">
            What an agent asks for waits for an administrator, where it needs approval. What waits
            already goes on waiting.
            {isAdmin ? "" : " Only administrators change this."}
          </span>
          <ul className="rows">
            {items.map((one) => (
              <Policy key={one.category} policy={one} />
            ))}
          </ul>
        </div>
      )}
    </Loaded>
  );
}

function Policy({ policy }: { readonly policy: schemas["ApprovalPolicy"] }) {
  const { isAdmin } = useMe();
  const { isBusy, act } = useAct();
  const queries = useQueryClient();
  const nameOf = usePersonNames();
  const set = (body: schemas["UpdateApprovalPolicyRequest"], done: string) =>
    act(async () => {
      try {
        const params = { path: { category: policy.category }, header: ifMatch(policy) };
        notify.outcome(
          await ask(api.PATCH("/approval-policies/{category}", { params, body })),
          done,
        );
      } finally {
        await queries.invalidateQueries({ queryKey: ["in", "approval-policies"] });
      }
    });
  const { description, operations, requires_approval: needs, updated_at: at } = policy;
  return (
    <Row
      name={description}
      about={operationWords(operations)}
      detail={
        <span className="stack" style={{ gap: "0.5rem" }}>
          <Switch
            label="Needs approval"
            aria-label={`${description}: needs approval`}
            checked={needs}
            disabled={!isAdmin || isBusy}
            onChange={(event) => {
              const { checked } = event.currentTarget;
              void set(
                { requires_approval: checked },
                checked
                  ? `${description} need approval now.`
                  : `Agents do it at once now: ${description}.`,
              );
            }}
          />
          <Switch
            label="By somebody else than who asked"
            aria-label={`${description}: by somebody else than who asked`}
            checked={policy.require_distinct_approver}
            disabled={!isAdmin || isBusy || !needs}
            onChange={(event) =>
              void set({ require_distinct_approver: event.currentTarget.checked }, "Saved.")
            }
          />
        </span>
      }
      later={
        at === null ? (
          "Never changed"
        ) : (
          <>
            {nameOf(policy.updated_by)}, <Ago at={at} />
          </>
        )
      }
    />
  );
}

/** "source.create", "source.update" → "Source: create, update". */
function operationWords(operations: readonly string[]): string {
  const verbs = Map.groupBy(operations, (one) => one.split(".")[0] ?? one);
  return [...verbs]
    .map(([resource, ids]) => {
      const said = ids.map((id) => id.slice(resource.length + 1).replaceAll("_", " "));
      return `${spoken(resource)}: ${said.join(", ")}`;
    })
    .join(" · ");
}
