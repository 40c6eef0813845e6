import { ConnectorError } from "../contract/errors.ts";

/** The error for a batch of which no byte is used. */
export const refuse = (problem: string) =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: `a batch ${problem}` });

/** Whether the row's value is null. */
export const isNull = (validity: Uint8Array, row: number) =>
  ((validity[row >> 3] as number) & (1 << (row & 7))) === 0;
