import { once } from "node:events";
import autocannon from "autocannon";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { median, type Result, startProgram } from "./run.ts";

const rounds = 5;
const seconds = Number(process.env.BENCH_SECONDS ?? 3);

/**
 * The Control API against bare routes with the same work on one PostgreSQL, each under load by
 * turns.
 */
export async function* benchControl(): AsyncGenerator<Result> {
  if (findPostgres() === undefined) return;
  await using postgres = await startPostgres();
  const { url } = await postgres.createDatabase();
  await using mailer = await startMailer({
    seed: 5,
    campaigns: 5,
    lists: 1,
    subscribersPerList: 5,
  });
  const { hostname, token: apiToken, seams } = mailer;
  const socket = seams.dial({ host: hostname, address: "", port: 443 });
  await once(socket, "connect");
  const port = socket.remotePort;
  socket.destroy();
  const facts = { url, mailer: { hostname, port, ca: seams.ca, token: apiToken } };
  using oursProgram = await startProgram(
    "control-subject.ts",
    JSON.stringify({ kind: "ours", ...facts }),
  );
  const ours = oursProgram.ready as Record<
    "base" | "token" | "workspaceId" | "sourceId" | "credentialHandle" | "baseUrl",
    string
  >;
  const { workspaceId } = ours;
  using bareProgram = await startProgram(
    "control-subject.ts",
    JSON.stringify({ kind: "bare", ...facts, workspaceId }),
  );
  const bare = bareProgram.ready as { base: string };

  const headers = { authorization: `Bearer ${ours.token}` };
  const json = { ...headers, "content-type": "application/json" };
  const rename = {
    method: "PATCH",
    headers: json,
    body: JSON.stringify({ name: "Renamed" }),
    connections: 4,
  };
  const check = JSON.stringify({
    credential_handle: ours.credentialHandle,
    base_url: ours.baseUrl,
  });
  const pairs = [
    {
      name: "GET /sources (50 of them), against a bare route with the same SQL",
      ours: { url: `${ours.base}/sources`, headers, connections: 8 },
      bare: { url: `${bare.base}/sources`, headers, connections: 8 },
      aim: "≥ 0.7",
    },
    {
      name: "PATCH /sources/{id}, against a bare route with the same SQL",
      ours: { url: `${ours.base}/sources/${ours.sourceId}`, ...rename },
      bare: { url: `${bare.base}/sources/${ours.sourceId}`, ...rename },
      aim: "≥ 0.7",
    },
    {
      name: "POST /connectors/mailer/check in its sandbox, against a bare route with one request",
      ours: {
        url: `${ours.base}/connectors/mailer/check`,
        method: "POST",
        headers: json,
        body: check,
        connections: 4,
      },
      bare: { url: `${bare.base}/check`, method: "POST", headers, connections: 4 },
      aim: "",
    },
  ];
  for (const { name, ours: own, bare: plain, aim } of pairs) {
    const rates = { own: [] as number[], plain: [] as number[] };
    for (let round = -1; round < rounds; round += 1) {
      for (const [kind, options] of [
        ["own", own],
        ["plain", plain],
      ] as const) {
        const { requests, non2xx, errors } = await autocannon({
          ...options,
          duration: round < 0 ? 2 : seconds,
        });
        if (non2xx + errors > 0)
          throw new Error(`${name}: ${kind} failed ${non2xx + errors} times`);
        if (round >= 0) rates[kind].push(requests.average);
      }
    }
    const perSecond = (values: readonly number[]) => `${Math.round(median(values))}/s`;
    const ratio = median(rates.own) / median(rates.plain);
    yield { name, ours: perSecond(rates.own), baseline: perSecond(rates.plain), ratio, aim };
  }
}
