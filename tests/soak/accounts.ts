/**
 * The provider of the soak: any number of the mailer's accounts behind one host name, each with the
 * tokens that it takes at the moment.
 */
import { createHash } from "node:crypto";
import type { CertificateAuthority } from "../../simulators/certificates.ts";
import { createMailerData, type MailerData } from "../../simulators/mailer/data.ts";
import { paginate } from "../../simulators/mailer/pages.ts";
import { findResource } from "../../simulators/mailer/routes.ts";
import { createTruth, type Truth } from "../../simulators/mailer/truth.ts";
import {
  type Answer,
  type SimulatorServer,
  startServer,
} from "../../simulators/simulator/server.ts";
import type { Random } from "./random.ts";

export interface Account {
  readonly baseUrl: string;
  readonly truth: Truth;
  /** Every token that there ever was: none may be found anywhere. */
  readonly issued: readonly string[];
  /** A further token that is taken. */
  issue(): string;
  /** Ends all tokens but the last one. */
  endOld(): void;
  /** Rows come, change and go. */
  change(random: Random): void;
}

export interface Accounts extends SimulatorServer {
  readonly accounts: readonly Account[];
}

const hostname = "mail.example.com";
const json = { "content-type": "application/json" };
const dayMs = 86_400_000;
/** Changes of older rows are not seen by an incremental read: its lookback is a month. */
const changesWithinMs = 10 * dayMs;

/** @param now the clock of the soak */
export async function startAccounts({
  seed,
  count,
  now,
  authority,
}: {
  readonly seed: number;
  readonly count: number;
  readonly now: () => number;
  readonly authority: CertificateAuthority;
}): Promise<Accounts> {
  const byToken = new Map<string, MailerData>();
  const made = Array.from({ length: count }, (_, index) =>
    createAccount({ name: `account${index}`, seed: seed * 1_000 + index, now, byToken }),
  );
  const answer = (status: number, body: object): Answer => ({
    status,
    headers: json,
    body: Buffer.from(JSON.stringify(body)),
  });
  const server = await startServer({
    hostname,
    now,
    authority,
    answer({ method, path, query, headers }) {
      const data = byToken.get((headers.authorization ?? "").replace("Bearer ", ""));
      // The first part of the path is the account's, so that faults can be told apart.
      const route = path.slice(path.indexOf("/api"));
      if (!data) return answer(401, { message: "Unauthenticated." });
      if (method !== "GET") return answer(405, { message: "Not supported." });
      const found = findResource(data, route, query);
      if (found.type === "refused") return answer(found.status, { message: found.message });
      if (found.type === "object") return answer(200, { data: found.row });
      const page = paginate(found.rows, {
        url: `https://${hostname}${path}`,
        query,
        maxPerPage: 50,
      });
      return { status: 200, headers: json, body: Buffer.from(page) };
    },
  });
  return { ...server, accounts: made };
}

function createAccount({
  name,
  seed,
  now,
  byToken,
}: {
  readonly name: string;
  readonly seed: number;
  readonly now: () => number;
  readonly byToken: Map<string, MailerData>;
}): Account {
  const data = createMailerData({
    seed,
    now: new Date(now()).toISOString(),
    lists: 2,
    campaigns: 12,
    drafts: 0,
    scheduled: 0,
    subscribersPerList: 0,
  });
  const issued: string[] = [];
  return {
    baseUrl: `https://${hostname}/${name}/api`,
    truth: createTruth(data),
    issued,
    issue() {
      const token = `mlr_${createHash("sha256").update(`${seed} ${issued.length}`).digest("hex")}`;
      issued.push(token);
      byToken.set(token, data);
      return token;
    },
    endOld() {
      for (const token of issued.slice(0, -1)) byToken.delete(token);
    },
    change(random) {
      const at = new Date(now()).toISOString();
      if (random.chance(0.5)) data.mutate.addCampaign({ sentAt: at, name: `Added ${at}` });
      const recent = data.campaigns.filter(
        ({ sentAtMs }) => sentAtMs !== null && now() - sentAtMs < changesWithinMs,
      );
      const changed = random.pick(recent);
      if (changed && random.chance(0.3))
        data.mutate.updateCampaign(changed.uuid, { name: `Changed ${at}`, updatedAt: at });
      const removed = random.pick(data.campaigns);
      if (removed && data.campaigns.length > 12 && random.chance(0.15))
        data.mutate.removeCampaign(removed.uuid);
    },
  };
}
