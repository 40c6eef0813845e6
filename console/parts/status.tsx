import { Badge } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { serverNowMs } from "../api/clock.ts";
import type { schemas } from "../api/schema.ts";
import { ago, colorOf, moment, spoken } from "../model/words.ts";

export const Status = ({
  of,
  said = spoken(of),
}: {
  readonly of: string;
  /** In other words than the API's. */
  readonly said?: string | undefined;
}) => (
  <Badge variant="light" color={colorOf[of] ?? "gray"} radius="sm" tt="none" fw={600}>
    {said}
  </Badge>
);

const waits = "Waits to try again";

export const JobStatus = ({ of }: { readonly of: schemas["JobStatus"] }) => (
  <Status of={of} said={of === "incomplete" ? waits : undefined} />
);

/** How a pipeline stands. One whose last job somebody has ended waits for nothing. */
export const PipelineStatus = ({
  of: { sync_state: state, last_job: job },
}: {
  readonly of: Pick<schemas["Pipeline"], "sync_state" | "last_job">;
}) =>
  state === "incomplete" && job?.status === "cancelled" ? (
    <Status of="cancelled" />
  ) : (
    <Status of={state} said={state === "incomplete" ? waits : undefined} />
  );

/** How an activation stands: as its last run has ended, while it may run. */
export const ActivationStatus = ({ of: one }: { readonly of: schemas["ReverseEtlActivation"] }) => {
  const { status, lastRunStatus: last } = one;
  if (status !== "active" || last === null || last === "skipped") return <Status of={status} />;
  return <Status of={last} said={last === "warning" ? "Some rows refused" : undefined} />;
};

/** When something happened, as one says it; the moment itself when one points at it. */
export const Ago = ({ at }: { readonly at: string }) => <Time at={at} isPast />;

/** When something comes, or has come to its end. */
export const Due = ({ at }: { readonly at: string }) => <Time at={at} isPast={false} />;

function Time({ at, isPast }: { readonly at: string; readonly isPast: boolean }) {
  useMinutes();
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at, serverNowMs(), isPast)}
    </time>
  );
}

/** Renders anew each minute: words for times are true for a while. */
const useMinutes = () => useSyncExternalStore(everyMinute, () => Math.floor(Date.now() / 60_000));

function everyMinute(changed: () => void): () => void {
  const timer = setInterval(changed, 10_000);
  return () => clearInterval(timer);
}
