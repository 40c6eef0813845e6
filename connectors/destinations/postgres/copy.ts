import { from } from "pg-copy-streams";
import { copyHeader, copyTrailer } from "./binary-rows.ts";
import type { Rows } from "./rows.ts";
import type { Session } from "./session.ts";

/** An open COPY … FROM STDIN. Nothing else can be done in the session until its end. */
export interface Copy {
  readonly format: Rows["format"];
  /** Resolves when the connection takes more. @throws what the server says */
  write(rows: Buffer): Promise<void>;
  /** @throws what the server says */
  end(): Promise<void>;
}

export function openCopy(
  { client, stream: connection }: Session,
  table: string,
  columns: readonly string[],
  format: Rows["format"],
): Copy {
  const copy = client.query(
    from(`COPY ${table} (${columns.join(", ")}) FROM STDIN (FORMAT ${format})`),
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
  const isBinary = format === "binary";
  let isBegun = false;
  return {
    format,
    async write(rows) {
      if (isBinary && !isBegun) await write(copyHeader);
      isBegun = true;
      await write(rows);
    },
    async end() {
      if (isBinary) {
        if (!isBegun) await write(copyHeader);
        await write(copyTrailer);
      }
      await Promise.race([failed, new Promise<void>((resolve) => copy.end(() => resolve()))]);
      connection.off("close", lose);
    },
  };
}
