/**
 * A worker in a process of its own, to be killed: `node tests/job-process.ts '<options as JSON>'`
 * prints a line when it takes jobs. Connectors reach the provider's simulator on loopback.
 */
import { connect } from "node:net";
import { createControl } from "../control/create-control.ts";
import { silentLog } from "../control/services/log.ts";
import { openKeyring } from "../control/vault/keyring.ts";

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly keyFile: string;
  readonly warehouses: string;
  /** Of the provider. */
  readonly hostname: string;
  readonly port: number;
  readonly ca: string;
}

const options = JSON.parse(process.argv[2] ?? "{}") as WorkerOptions;
const control = await createControl({
  database: { url: options.databaseUrl, maxConnections: 4 },
  keyring: await openKeyring(options.keyFile, { create: false }),
  settings: {
    network: { approvedHosts: [options.hostname], allowNetworks: ["127.0.0.1/32"] },
    warehouses: options.warehouses,
  },
  seams: {
    ca: options.ca,
    resolve: async (host) =>
      host === options.hostname
        ? [{ address: "93.184.215.14", family: 4 }]
        : [{ address: host, family: 4 }],
    dial: (target) =>
      target.host === options.hostname
        ? connect(options.port, "127.0.0.1")
        : connect(target.port, "127.0.0.1"),
  },
  jobs: "run",
  log: silentLog,
});
console.log("working");
process.once("SIGTERM", async () => {
  await control[Symbol.asyncDispose]();
  process.exit(0);
});
