import { Alert } from "@mantine/core";
import type { Problem } from "../api/problem.ts";
import { StoredAnyway } from "../model/save.ts";

/** Says when a secret was stored though its test has failed. */
export const StoredAnywayNote = ({ problem }: { readonly problem: Problem | undefined }) =>
  problem instanceof StoredAnyway ? (
    <Alert
      color="yellow"
      variant="light"
      title="The new secret is stored all the same"
      role="alert"
    >
      Jobs use it from now on. Enter the right one, and save again.
    </Alert>
  ) : null;
