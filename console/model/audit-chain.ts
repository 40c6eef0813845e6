/** The audit log's chain, as this browser finds it: each entry's hash is over all before it. */
import { exported } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";

type Line = schemas["AuditExportLine"];

export interface Chain {
  readonly entries: number;
  /** Where it is not what was written; undefined: nowhere. */
  readonly brokenAt: number | undefined;
  /** Whether the last line was there. */
  readonly isWhole: boolean;
  readonly hash: string;
}

const text = new TextEncoder();

/** SHA-256 of the JSON text `[hash before, [[name, value], …]]`, names in their order. */
async function hashOf(before: string, entry: object): Promise<string> {
  const fields = Object.entries(entry).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const digest = await crypto.subtle.digest(
    "SHA-256",
    text.encode(JSON.stringify([before, fields])),
  );
  return [...new Uint8Array(digest)].map((one) => one.toString(16).padStart(2, "0")).join("");
}

/** Looks at each line as it comes. */
export function createVerifier() {
  let chain: Chain = { entries: 0, brokenAt: undefined, isWhole: false, hash: "" };
  const add = async (line: Line): Promise<void> => {
    if (chain.brokenAt !== undefined) return;
    if (line.kind === "begin") chain = { ...chain, hash: line.hash ?? "" };
    else if (line.kind === "entry" && line.entry) {
      const hash = await hashOf(chain.hash, line.entry);
      const entries = chain.entries + 1;
      chain =
        hash === line.hash
          ? { ...chain, entries, hash }
          : { ...chain, entries, brokenAt: line.entry.index };
    } else if (line.kind === "end") {
      const isSame = line.hash === chain.hash && (line.count ?? chain.entries) === chain.entries;
      chain = isSame
        ? { ...chain, isWhole: true }
        : { ...chain, brokenAt: line.index ?? chain.entries };
    }
  };
  return { add, chain: () => chain };
}

/**
 * Reads the whole log, and verifies it where the browser can (over TLS, or on this machine).
 * @throws Problem
 */
export async function readChain(
  onProgress: (entries: number) => void,
  signal: AbortSignal,
): Promise<{ readonly file: Blob; readonly chain: Chain | undefined }> {
  const parts: string[] = [];
  const canHash = globalThis.crypto?.subtle !== undefined;
  const verifier = createVerifier();
  let entries = 0;
  for await (const line of exported("/audit-logs/export", signal)) {
    parts.push(`${line}\n`);
    if (canHash) await verifier.add(JSON.parse(line) as Line);
    entries += 1;
    if (entries % 200 === 0) onProgress(entries);
  }
  return {
    file: new Blob(parts, { type: "application/x-ndjson" }),
    chain: canHash ? verifier.chain() : undefined,
  };
}
