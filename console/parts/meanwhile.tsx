/** In a form: what became of saving it; when somebody else was faster, what they have changed. */
import { Alert, Button } from "@mantine/core";
import { changesBetween } from "../model/differences.ts";
import type { Saving } from "../model/use-saving.ts";
import { Changes } from "./changes.tsx";
import { ProblemNote } from "./states.tsx";

type Fields = Readonly<Record<string, unknown>>;

export function SaveProblem<T extends { readonly version: number }>({
  saving: { problem, before, now, load, keepMine },
  shownOf,
  fields,
  nameOf,
}: {
  readonly saving: Saving<T>;
  /** The fields of it that the form shows. */
  readonly shownOf: (one: T) => Fields;
  /** Names of fields that say themselves what is wrong with them. */
  readonly fields?: readonly string[] | undefined;
  readonly nameOf?: ((path: string) => string) | undefined;
}) {
  if (problem === undefined) return null;
  if (problem.status !== 412) return <ProblemNote error={problem} shown={fields} nameOf={nameOf} />;
  const changes = changesBetween(shownOf(before), shownOf(now));
  return (
    <Alert
      color="orange"
      variant="light"
      title="Somebody else has changed it"
      role="alert"
      tabIndex={-1}
    >
      <div className="stack" style={{ gap: "0.75rem" }}>
        {changes.length === 0 ? (
          <span>Nothing that this form shows is different.</span>
        ) : (
          <div className="panel" style={{ color: "var(--mantine-color-text)" }}>
            <Changes kind="update" changes={changes} />
          </div>
        )}
        <div className="actions">
          <Button size="xs" variant="default" onClick={load}>
            Load what it is now
          </Button>
          <Button type="submit" size="xs" variant="default" onClick={keepMine}>
            Keep mine, and save over it
          </Button>
        </div>
      </div>
    </Alert>
  );
}
