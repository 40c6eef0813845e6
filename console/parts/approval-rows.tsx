import type { schemas } from "../api/schema.ts";
import { useNames } from "./names.ts";
import { clientWords, usePersonNames } from "./people.ts";
import { Row } from "./row.tsx";
import { Ago, Status } from "./status.tsx";

/** The title of a proposal: "Change a pipeline: Shop". */
export function useApprovalTitle(): (approval: schemas["Approval"]) => string {
  const nameOf = useNames();
  return ({ proposal: { summary, body_redacted: body }, resource: { type, id } }) => {
    const { name } = body;
    const found = id === null ? (typeof name === "string" ? name : undefined) : nameOf(type, id);
    return found === undefined ? summary : `${summary}: ${found}`;
  };
}

export function ApprovalRows({
  approvals,
}: {
  readonly approvals: readonly schemas["Approval"][];
}) {
  const nameOf = usePersonNames();
  const titleOf = useApprovalTitle();
  return (
    <ul className="rows">
      {approvals.map((one) => (
        <Row
          key={one.approval_id}
          to={`/approvals/${one.approval_id}`}
          name={titleOf(one)}
          detail={`${nameOf(one.requested_by.user_id)}, through ${clientWords[one.source]}${one.reason === null ? "" : `: ${one.reason}`}`}
          later={<Ago at={one.decided_at ?? one.created_at} />}
          right={<Status of={one.status} />}
        />
      ))}
    </ul>
  );
}
