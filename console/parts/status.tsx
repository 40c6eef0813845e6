import { Badge } from "@mantine/core";
import { ago, colorOf, moment, spoken } from "../model/words.ts";

export const Status = ({ of }: { readonly of: string }) => (
  <Badge variant="light" color={colorOf[of] ?? "gray"} radius="sm" tt="none" fw={600}>
    {spoken(of)}
  </Badge>
);

/** A time as one says it; the moment itself when one points at it. */
export const Ago = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={moment(at)}>
    {ago(at)}
  </time>
);
