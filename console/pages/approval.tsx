import { Alert, Button, Textarea } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { isOpen } from "../model/approvals.ts";
import { moment, spoken } from "../model/words.ts";
import { useApprovalTitle } from "../parts/approval-rows.tsx";
import { Changes } from "../parts/changes.tsx";
import { Head } from "../parts/head.tsx";
import { useMe } from "../parts/me.tsx";
import { notify } from "../parts/notify.ts";
import { clientWords, usePersonNames } from "../parts/people.ts";
import { Loaded, ProblemNote } from "../parts/states.tsx";
import { Ago, Due, Status } from "../parts/status.tsx";

type Approval = schemas["Approval"];
type Proposed = schemas["ProposedChanges"];

interface Of {
  readonly approval: Approval;
  readonly proposed: Proposed;
}

const up = { to: "/approvals", label: "Approvals" };

/** One proposal: who asks, what exactly changes, and the decision. */
export default function ApprovalPage({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ["in", "approvals", id],
    queryFn: async (): Promise<Of> => {
      const path = { approval_id: id };
      const approval = await ask(api.GET("/approvals/{approval_id}", { params: { path } }));
      const proposed = await ask(api.GET("/approvals/{approval_id}/changes", { params: { path } }));
      return { approval, proposed };
    },
    refetchInterval: ({ state: { data } }) =>
      data && !isOpen(data.approval.status) ? false : 3_000,
  });
  const titleOf = useApprovalTitle();
  return (
    <Loaded query={query} before={<Head title="Approval" up={up} />}>
      {({ approval, proposed }) => (
        <>
          <Head title={titleOf(approval)} up={up} aside={<Status of={approval.status} />} />
          <div className="stack">
            <Stale proposed={proposed} />
            <Outcome approval={approval} />
            <div className="columns">
              <section className="panel">
                <h2>{(approval.status === "executed" ? past : headings)[proposed.kind]}</h2>
                <Changes kind={proposed.kind} changes={proposed.changes} />
              </section>
              <div className="stack" style={{ alignContent: "start" }}>
                <WhoAsks approval={approval} />
                <Decision approval={approval} proposed={proposed} />
              </div>
            </div>
          </div>
        </>
      )}
    </Loaded>
  );
}

const headings = {
  create: "What would be made",
  update: "What would change",
  delete: "What would be deleted",
  run: "What would be done",
} as const;

/** Of one that was carried out. */
const past = {
  create: "What was made",
  update: "What was changed",
  delete: "What was deleted",
  run: "What was done",
} as const;

function Stale({ proposed: { problem } }: Pick<Of, "proposed">) {
  return problem === null ? null : (
    <Alert color="yellow" variant="light" title="It cannot be carried out any more">
      {problem}
    </Alert>
  );
}

function Outcome({ approval }: Pick<Of, "approval">) {
  const nameOf = usePersonNames();
  const { status, error, decided_by: by, decided_at: at, decision_comment: comment } = approval;
  if (status === "pending") return null;
  const isBad = status === "failed" || status === "rejected";
  return (
    <Alert
      color={isBad ? "red" : status === "executed" ? "teal" : "gray"}
      variant="light"
      title={
        status === "failed"
          ? "It was approved, and did not work"
          : status === "executed"
            ? "It was approved and carried out"
            : spoken(status)
      }
    >
      <div className="stack" style={{ gap: "0.4rem" }}>
        {error === null ? null : <span>{error.message}</span>}
        {comment === null ? null : <bdi className="text">{comment}</bdi>}
        {at === null ? null : (
          <span className="dim">
            {nameOf(by)}, {moment(at)}
          </span>
        )}
      </div>
    </Alert>
  );
}

/** Where what it is about has a page of its own. */
const pageOf = ({ resource: { type, id }, operation }: Approval): string | undefined => {
  if (id === null || operation.endsWith(".delete")) return undefined;
  const places: Readonly<Record<string, string>> = {
    source: "sources",
    destination: "destinations",
    pipeline: "pipelines",
    reverse_etl_model: "models",
    reverse_etl_activation: "activations",
    reverse_etl_destination: "receivers",
    connector: "connectors",
    job: "jobs",
  };
  return places[type] === undefined ? undefined : `/${places[type]}/${id}`;
};

function WhoAsks({ approval }: Pick<Of, "approval">) {
  const nameOf = usePersonNames();
  const { requested_by: by, source, reason, created_at: at, expires_at: ends } = approval;
  const page = pageOf(approval);
  return (
    <section className="panel">
      <h2>Who asks</h2>
      <dl className="facts">
        <dt>By</dt>
        <dd>
          {nameOf(by.user_id)}, through {clientWords[source]}
        </dd>
        {reason === null ? null : (
          <>
            <dt>Why</dt>
            <dd>
              <bdi className="text">{reason}</bdi>
            </dd>
          </>
        )}
        <dt>About</dt>
        <dd>
          {page === undefined ? (
            spoken(approval.resource.type)
          ) : (
            <Link href={page}>{spoken(approval.resource.type)}</Link>
          )}
        </dd>
        <dt>Asked</dt>
        <dd>
          <Ago at={at} />
        </dd>
        {approval.status === "pending" ? (
          <>
            <dt>Ends</dt>
            <dd>
              <Due at={ends} />
            </dd>
          </>
        ) : null}
      </dl>
    </section>
  );
}

type Verb = "approve" | "reject" | "cancel";

function Decision({ approval, proposed }: Of) {
  const { me, mayApprove } = useMe();
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState<Verb>();
  const [problem, setProblem] = useState<unknown>();
  const queries = useQueryClient();
  const isMine = approval.requested_by.user_id === me.user_id;
  if (approval.status !== "pending" || (!mayApprove && !isMine)) return null;
  const decide = async (verb: Verb) => {
    setBusy(verb);
    setProblem(undefined);
    try {
      const said = await send(verb, approval, reason.trim());
      // A failed execution is told above.
      if (said.status !== "failed") notify.done(words[verb]);
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(undefined);
      await queries.invalidateQueries({ queryKey: ["in"] });
    }
  };
  return (
    <section className="panel stack" style={{ gap: "0.9rem" }}>
      <h2 className="section" style={{ margin: 0 }}>
        {mayApprove ? "Your decision" : "You have asked for it"}
      </h2>
      <Textarea
        label="Reason"
        description="Who asked reads it; it stays in the audit log."
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={2_000}
        autosize
        minRows={2}
        maxRows={8}
      />
      {problem === undefined ? null : <ProblemNote error={problem} />}
      <div className="actions">
        {mayApprove ? (
          <>
            <Button
              onClick={() => void decide("approve")}
              loading={busy === "approve"}
              disabled={proposed.is_stale || (busy !== undefined && busy !== "approve")}
              color={proposed.kind === "delete" ? "red" : "indigo"}
            >
              Approve
            </Button>
            <Button
              variant="default"
              onClick={() => void decide("reject")}
              loading={busy === "reject"}
              disabled={busy !== undefined && busy !== "reject"}
            >
              Reject
            </Button>
          </>
        ) : null}
        {isMine ? (
          <Button
            variant="subtle"
            onClick={() => void decide("cancel")}
            loading={busy === "cancel"}
          >
            Withdraw
          </Button>
        ) : null}
      </div>
    </section>
  );
}

const words: Readonly<Record<Verb, string>> = {
  approve: "Approved: it is carried out.",
  reject: "Rejected.",
  cancel: "Withdrawn.",
};

/** Sends a decision; an approval names the digest of what was read. @throws Problem */
async function send(verb: Verb, approval: Approval, reason: string): Promise<Approval> {
  const params = { path: { approval_id: approval.approval_id } };
  const said = reason === "" ? {} : { reason };
  if (verb === "reject")
    return ask(api.POST("/approvals/{approval_id}/reject", { params, body: said }));
  if (verb === "cancel")
    return ask(api.POST("/approvals/{approval_id}/cancel", { params, body: said }));
  const body = {
    payload_digest: approval.payload_digest,
    ...(reason === "" ? {} : { comment: reason }),
  };
  return ask(api.POST("/approvals/{approval_id}/approve", { params, body }));
}
