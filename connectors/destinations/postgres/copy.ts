import { from } from "pg-copy-streams";
import { copyHeader, copyTrailer } from "./binary-rows.ts";
import type { Session } from "./session.ts";

/** An open COPY … FROM STDIN. Nothing else can be done in the session until its end. */
export interface Copy {
  /** Resolves when the connection takes more. @throws what the server says */
  write(rows: Buffer): Promise<void>;
  /** @throws what the server says */
  end(): Promise<void>;
}

export function openCopy(
  { client, stream: connection }: Session,
  table: string,
  columns: readonly string[],
): Copy {
  const copy = client.query(
    from(`COPY ${table} (${columns.join(", ")}) FROM STDIN (FORMAT binary)`),
  );
  let reject: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, refuse) => (reject = refuse));
  failed.catch(() => {}); // whoever writes next learns of it
  const lose = () => reject(undefined);
  copy.on("error", reject);
  // A write that waits for the connection is told nothing when that ends.
  connection.once("close", lose);
  const write = (rows: Buffer) =>
    Promise.race([failed, new Promise<void>((resolve) => copy.write(rows, () => resolve()))]);
  let isBegun = false;
  return {
    async write(rows) {
      if (!isBegun) await write(copyHeader);
      isBegun = true;
      await write(rows);
    },
    async end() {
      if (!isBegun) await write(copyHeader);
      await write(copyTrailer);
      await Promise.race([failed, new Promise<void>((resolve) => copy.end(() => resolve()))]);
      connection.off("close", lose);
    },
  };
}
