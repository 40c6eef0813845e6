/** What became of saving a form; when somebody else was faster, what they have changed. */
import { Alert, Button } from "@mantine/core";
import { toProblem } from "../api/problem.ts";
import { changesBetween } from "../model/differences.ts";
import { Changes } from "./changes.tsx";
import { ProblemNote } from "./states.tsx";

type Fields = Readonly<Record<string, unknown>>;

export function SaveProblem({
  error,
  before,
  now,
  onLoad,
  onKeep,
}: {
  readonly error: unknown;
  /** What was there when the form was opened, and what is there now. */
  readonly before: Fields;
  readonly now: Fields;
  readonly onLoad: () => void;
  readonly onKeep: () => void;
}) {
  if (error === undefined) return null;
  if (toProblem(error).status !== 412) return <ProblemNote error={error} />;
  const changes = changesBetween(before, now);
  return (
    <Alert color="orange" variant="light" title="Somebody else has changed it" role="alert">
      <div className="stack" style={{ gap: "0.75rem" }}>
        {changes.length === 0 ? (
          <span>Nothing that this form shows is different.</span>
        ) : (
          <div className="panel" style={{ color: "var(--mantine-color-text)" }}>
            <Changes kind="update" changes={changes} />
          </div>
        )}
        <div className="actions">
          <Button size="xs" variant="default" onClick={onLoad}>
            Load what it is now
          </Button>
          <Button size="xs" variant="default" onClick={onKeep}>
            Keep mine, and save over it
          </Button>
        </div>
      </div>
    </Alert>
  );
}
