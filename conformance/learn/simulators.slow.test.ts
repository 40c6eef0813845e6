/**
 * Listings learned from real connectors' reads of the providers' simulators, held against the
 * simulators themselves.
 */
import type { JsonObject } from "svc-connectors";
import { describe, expect, test } from "vitest";
import { createBankdataRun } from "../../fixtures/bankdata/run.ts";
import type { ConnectorRun } from "../../fixtures/connector-run.ts";
import { createMailerRun } from "../../fixtures/mailer/run.ts";
import { toRecording } from "../../fixtures/paging/sample.ts";
import { createSocialRun } from "../../fixtures/social/run.ts";
import { createTaskappRun } from "../../fixtures/taskapp/run.ts";
import { startBankdata } from "../../simulators/bankdata/bankdata.ts";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import type { SimulatorServer } from "../../simulators/simulator/server.ts";
import { startSocial } from "../../simulators/social/social.ts";
import { startTaskapp } from "../../simulators/taskapp/taskapp.ts";
import type { Interaction, Recording } from "../contract/recording.ts";
import { learnProvider } from "./learn.ts";

interface Simulated extends AsyncDisposable {
  readonly server: Pick<SimulatorServer, "hostname" | "observe">;
  readonly run: ConnectorRun;
}

/** Headers that say what is asked for. */
const matchedHeaders = ["portal_id", "brand_id"];

/** Recordings of a read of each stream, and of a second one from the state that the first left. */
async function record(
  { server, run }: Simulated,
  streams: readonly string[],
  config: JsonObject,
): Promise<Recording[]> {
  let seen: Interaction[] = [];
  server.observe(({ method, path, query, headers, body }, answer) => {
    const matched = matchedHeaders.flatMap((name) =>
      typeof headers[name] === "string" ? [[name, headers[name]] as const] : [],
    );
    seen.push({
      request: {
        method,
        url: `https://${server.hostname}${path}${query.size > 0 ? `?${query}` : ""}`,
        headers: Object.fromEntries(matched),
        ...(body === "" ? {} : { body }),
      },
      response: { status: answer.status, headers: answer.headers, body: String(answer.body) },
    });
  });
  const recordings: Recording[] = [];
  const catalog = await run.discover({ config });
  for (const stream of streams) {
    const modes = catalog.find(({ name }) => name === stream)?.supported_sync_modes;
    const syncMode = modes?.includes("incremental") ? "incremental" : "full_refresh";
    seen = [];
    const { states } = await run.read(stream, { config, syncMode });
    recordings.push(toRecording(stream, seen));
    const state = states.at(-1);
    if (state === undefined || syncMode === "full_refresh") continue;
    seen = [];
    await run.read(stream, { config, syncMode: "incremental", state });
    recordings.push(toRecording(`${stream}-resumed`, seen, { state: true }));
  }
  return recordings;
}

async function simulate<Server extends SimulatorServer>(
  server: Server,
  createRun: (server: Server) => ConnectorRun,
): Promise<Simulated> {
  const run = createRun(server);
  return {
    server,
    run,
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const mailer = async () =>
  simulate(
    await startMailer({
      seed: 1,
      lists: 2,
      subscribersPerList: 5,
      campaigns: 4,
      opensPerCampaign: 3,
    }),
    createMailerRun,
  );
const social = async () =>
  simulate(await startSocial({ seed: 1, postsPerChannel: 5, brands: 1 }), createSocialRun);
const bankdata = async () => simulate(await startBankdata({ seed: 1 }), createBankdataRun);
const taskapp = async () => simulate(await startTaskapp({ seed: 1, tasks: 12 }), createTaskappRun);

const subjects = [
  {
    name: "mailer",
    start: mailer,
    streams: ["subscribers", "campaigns", "campaign_opens"],
    config: { page_size: 2 },
    styles: ["number"],
  },
  {
    name: "social",
    start: social,
    streams: ["posts", "drafts"],
    config: { page_size: 2 },
    styles: ["single", "cursor", "offset"],
  },
  {
    name: "bankdata",
    start: bankdata,
    streams: ["transactions", "investment_transactions"],
    config: {},
    styles: ["cursor", "offset"],
  },
  {
    name: "taskapp",
    start: taskapp,
    streams: ["tasks", "comments"],
    config: {},
    styles: ["single", "number"],
  },
];

/** The JSON of an answer, without what differs each time. */
const treeOf = (text: string) => {
  const { request_id: _, ...tree } = JSON.parse(text) as { request_id?: string };
  return tree;
};

const askIn = (recordings: readonly Recording[]) => {
  const provider = learnProvider(recordings, {}).provider();
  return ({ request }: Interaction) => {
    const { method, body = "", headers = {} } = request;
    const answer = provider.answer({ method, url: new URL(request.url), headers, body, index: 0 });
    return "unmatched" in answer ? answer.unmatched : treeOf(String(answer.body));
  };
};

describe.each(subjects)("$name", ({ start, streams, config, styles }) => {
  test("every listing is understood, and recorded requests get what was recorded", async () => {
    await using simulated = await start();
    const recordings = await record(simulated, streams, config);
    const { listings } = learnProvider(recordings, {});
    expect(
      listings.flatMap(({ paging }) => (paging.style === "unknown" ? [paging.problem] : [])),
    ).toEqual([]);
    expect(new Set(listings.map(({ paging }) => paging.style))).toEqual(new Set(styles));
    const ask = askIn(recordings);
    const interactions = recordings
      .flatMap((recording) => recording.interactions)
      .filter(({ response }) => !response.body?.includes("access_token"));
    for (const one of interactions) expect(ask(one)).toEqual(treeOf(one.response.body ?? ""));
    expect(interactions.length).toBeGreaterThan(streams.length);
  });
});

test("the mailer's pages of other sizes are what the mailer itself gives", async () => {
  await using simulated = await mailer();
  const ask = askIn(await record(simulated, ["subscribers", "campaign_opens"], { page_size: 2 }));
  for (const page_size of [1, 3, 4, 50]) {
    await using other = await mailer();
    const truth = await record(other, ["subscribers", "campaign_opens"], { page_size });
    for (const one of truth.flatMap(({ interactions }) => interactions))
      expect(ask(one)).toEqual(treeOf(one.response.body ?? ""));
  }
});
