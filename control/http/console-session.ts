/**
 * Signing in to the console and out of it. No answer holds what shows a session: that is in a
 * cookie, which scripts do not see.
 */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isAccessToken, isInvitationToken, isLinkCode } from "../contract/ids.ts";
import type { Caller } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { successBody } from "../door/answer.ts";
import { anonymousCaller, unauthenticated } from "../door/authenticate.ts";
import { basePath } from "../door/base-path.ts";
import type { Control } from "../door/control.ts";
import { parseJsonBody } from "../door/json-body.ts";
import {
  auditConsole,
  type ConsoleSession,
  consoleLifetimeMs,
  startByLink,
  startByToken,
  startInPlaceOf,
} from "../members/console-sessions.ts";
import { leaveSession } from "../members/sessions.ts";
import { consoleOrigin, createLinkFor, linkMail } from "../members/sign-in-link.ts";
import type { Services } from "../services/services.ts";
import { consoleTokenOf, cookie, isOwnPage } from "./console-cookie.ts";
import { factsOf } from "./headers.ts";
import { send } from "./refusals.ts";

export const sessionPath = "/console/session";
export const linkPath = "/console/link";

/** Adds the routes by which the console's cookie comes and goes. Nothing else sets it. */
export function addConsoleSession(server: FastifyInstance, control: Control): void {
  const { services } = control;
  const { publicUrl } = services.settings;
  const guarded = {
    // Before the body is read: another site's page gets no further, whatever it sends.
    onRequest: async (request: FastifyRequest) => {
      if (!isOwnPage(request, publicUrl)) throw new ControlError("origin_not_allowed");
    },
  };

  server.post(sessionPath, guarded, async (request, reply) => {
    // Whoever tries secrets pays for each, as strangers do.
    const limits = await services.limiter.take("anonymous", request.ip, services.clock.now());
    const before = await signedIn(control, request);
    const session = await start(control, request);
    const caller = await callerOf(control, request, session.token);
    await services.database.db.transaction().execute(async (tx) => {
      const now = new Date(services.clock.now());
      // The one that this browser had ends: nobody else's lives on in it.
      if (before) await leaveSession(tx, before.session.id, now);
      await auditConsole(tx, "session.create", { caller, requestId: randomUUID(), now });
    });
    const maxAgeS = Math.floor(consoleLifetimeMs / 1_000);
    return answer(request, reply.headers(limits), 201, cookie(request, session.token, maxAgeS));
  });

  server.post(linkPath, guarded, async (request, reply) => {
    const limits = await services.limiter.take("anonymous", request.ip, services.clock.now());
    const email = textOf(request, "email");
    if (email === undefined) throw refuseField("validation_failed", "email", "is missing");
    // Nobody learns from the answer, or from how long it takes, who has an account.
    void sendLink(services, email).catch(() => services.log.error("a link could not be mailed"));
    const { reaches } = services.mailer;
    const requestId = randomUUID();
    const body = successBody(requestId, JSON.stringify({ reaches }));
    return send(request, reply, { requestId, status: 202, headers: { ...limits }, body });
  });

  server.delete(sessionPath, guarded, async (request, reply) => {
    const caller = await signedIn(control, request);
    if (caller)
      await services.database.db.transaction().execute(async (tx) => {
        const now = new Date(services.clock.now());
        await leaveSession(tx, caller.session.id, now);
        await auditConsole(tx, "session.revoke", { caller, requestId: randomUUID(), now });
      });
    return answer(request, reply, 200, cookie(request, "", 0));
  });
}

/** Mails a link to the person with this address, if they may come in. */
async function sendLink(services: Services, email: string): Promise<void> {
  const now = new Date(services.clock.now());
  const made = await services.database.db
    .transaction()
    .execute((tx) => createLinkFor(tx, email, now));
  if (!made) return;
  const origin = consoleOrigin(services.settings);
  await services.mailer.send(linkMail(made.email, made.code, origin));
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  setCookie: string,
): FastifyReply {
  const requestId = randomUUID();
  const headers = { "set-cookie": setCookie };
  return send(request, reply, { requestId, status, headers, body: successBody(requestId, "{}") });
}

/** Whose session the browser has; undefined: nobody's, or one that has ended. */
const signedIn = (control: Control, request: FastifyRequest): Promise<Caller | undefined> => {
  const token = consoleTokenOf(request, control.services.settings.publicUrl);
  return token === undefined
    ? Promise.resolve(undefined)
    : callerOf(control, request, token).catch(() => undefined);
};

const callerOf = (control: Control, request: FastifyRequest, consoleToken: string) =>
  control.authenticate({ ...factsOf(request), authorization: undefined, consoleToken });

/** @throws unauthenticated, malformed_json, and what accepting an invitation throws */
async function start(control: Control, request: FastifyRequest): Promise<ConsoleSession> {
  const { services } = control;
  // The code of a link, an access token, or the token of an invitation: it says itself which.
  const secret = textOf(request, "secret");
  if (secret === undefined) throw unauthenticated();
  const { db } = services.database;
  const now = new Date(services.clock.now());
  if (isLinkCode(secret)) return db.transaction().execute((tx) => startByLink(tx, secret, now));
  const invited = isInvitationToken(secret);
  const token = invited ? await accept(control, request, secret) : secret;
  if (!isAccessToken(token)) throw unauthenticated();
  const caller = await control.authenticate({
    ...factsOf(request),
    authorization: `Bearer ${token}`,
  });
  const begin = invited ? startInPlaceOf : startByToken;
  return db.transaction().execute((tx) => begin(tx, caller, now));
}

/** The only field of a body; undefined: it is missing, or no text. @throws malformed_json */
function textOf({ body }: FastifyRequest, name: "secret" | "email"): string | undefined {
  if (!Buffer.isBuffer(body)) return undefined;
  const value = (parseJsonBody(body) as { readonly [name: string]: unknown } | null)?.[name];
  return typeof value === "string" ? value : undefined;
}

/** Accepts as the operation does. @returns the access token that comes of it */
async function accept(control: Control, request: FastifyRequest, token: string): Promise<string> {
  const operation = control.operations.find(({ id }) => id === "invitation.accept");
  if (!operation) throw new ControlError("internal");
  const given = await control.execute(
    operation,
    {
      path: `${basePath}${operation.path}`,
      params: {},
      query: {},
      body: { value: { token } },
      headers: {},
      signal: new AbortController().signal,
    },
    anonymousCaller(factsOf(request)),
  );
  if (given.reason !== undefined) throw new ControlError(given.reason);
  return (JSON.parse(given.body) as { data: { session: { token: string } } }).data.session.token;
}
