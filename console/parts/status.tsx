import { Badge } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { serverNowMs } from "../api/clock.ts";
import { ago, colorOf, moment, spoken } from "../model/words.ts";

export const Status = ({ of }: { readonly of: string }) => (
  <Badge variant="light" color={colorOf[of] ?? "gray"} radius="sm" tt="none" fw={600}>
    {spoken(of)}
  </Badge>
);

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
