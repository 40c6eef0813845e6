/**
 * A server that approves what its parent names, until its parent kills it. Forked by
 * approval-kills.long.test.ts.
 */
import { connect } from "node:net";
import type { Operation, WriteOperation } from "../control/contract/operation.ts";
import { createControl } from "../control/create-control.ts";
import { approve } from "../control/operations/approvals.ts";
import { createSource } from "../control/operations/sources.ts";
import { silentLog } from "../control/services/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { plentyOfRequests } from "./control.ts";

const { isRepeatable: _, ...source } = createSource as WriteOperation;
/** As creating a source, but nobody has said that its preparation may be done twice. */
export const createOnce: Operation = { ...source, id: "source.create_once", path: "/once" };

/** The argument that the process is started with, as JSON. */
export interface ProcessSettings {
  readonly databaseUrl: string;
  readonly keyFile: string;
  /** Where the mailer's simulator listens, under which name and certificate. */
  readonly mailer: { readonly port: number; readonly hostname: string; readonly ca: string };
}

/** The approver's token comes by message: a command line can be read by others. */
export interface ProcessCommand {
  readonly token: string;
  readonly approvalId: string;
}

/** The answer's status. */
export type Report = { readonly status: number };

async function run({ databaseUrl, keyFile, mailer }: ProcessSettings): Promise<void> {
  const control = await createControl({
    database: { url: databaseUrl, maxConnections: 4 },
    keyring: await openKeyring(keyFile, { create: false }),
    sandbox: "inline",
    log: silentLog,
    settings: {
      network: { approvedHosts: [mailer.hostname], allowNetworks: [] },
      limits: plentyOfRequests,
    },
    seams: {
      ca: mailer.ca,
      resolve: async () => [{ address: "93.184.215.14", family: 4 }],
      dial: () => connect(mailer.port, "127.0.0.1"),
    },
  });
  Object.assign(control.services, { operations: [...control.operations, createOnce] });
  process.on("message", async ({ token, approvalId }: ProcessCommand) => {
    const facts = {
      authorization: `Bearer ${token}`,
      client: undefined,
      ip: null,
      userAgent: null,
    };
    const request = {
      path: `/approvals/${approvalId}/approve`,
      params: { approval_id: approvalId },
      query: {},
      headers: {},
      signal: new AbortController().signal,
    };
    const { status } = await control.execute(approve, request, await control.authenticate(facts));
    process.send?.({ status } satisfies Report);
  });
  process.on("disconnect", () => process.exit());
}

const [, file, settings] = process.argv;
if (file === import.meta.filename && settings !== undefined) {
  await run(JSON.parse(settings) as ProcessSettings);
  process.send?.("ready");
}
