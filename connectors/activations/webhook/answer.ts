import type { FailedRow, RowChange } from "svc-connectors/destination";

/**
 * The rows that a receiver names in `{"failed":[{"key":"…","reason":"…"}]}`. Any other body, or
 * none, means that it has taken all of them; keys that were not sent mean nothing. Of a reason only
 * a plain word is kept: it is text of somebody else.
 */
export function failedRows(body: string, rows: readonly RowChange[]): FailedRow[] {
  const sent = new Set(rows.map(({ key }) => key));
  const failed = new Map<string, FailedRow>();
  for (const entry of listIn(body)) {
    const { key, reason } = (entry ?? {}) as { readonly key?: unknown; readonly reason?: unknown };
    const name = typeof key === "number" ? String(key) : key;
    if (typeof name !== "string" || !sent.has(name)) continue;
    const isWord = typeof reason === "string" && /^[a-z][a-z0-9_]{0,39}$/.test(reason);
    failed.set(name, { key: name, reason: "rejected", ...(isWord ? { word: reason } : {}) });
  }
  return [...failed.values()];
}

function listIn(body: string): readonly unknown[] {
  try {
    const { failed } = (JSON.parse(body) ?? {}) as { readonly failed?: unknown };
    return Array.isArray(failed) ? failed : [];
  } catch {
    return [];
  }
}
