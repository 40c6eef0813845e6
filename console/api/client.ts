/** The API as the console asks it: with the cookie of its session, never with a token. */
import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, PathsWithMethod } from "openapi-typescript-helpers";
import { compareClock } from "./clock.ts";
import { Problem } from "./problem.ts";
import type { paths, schemas } from "./schema.ts";
import { send } from "./send.ts";

/** Relative to the page: the console works below a proxy's path too. */
const at = (path: string) => new URL(path, document.baseURI.replace(/#.*/, "")).href;

/** Other origins cannot send it, and the cookie counts for nothing without it. */
const own = { "x-svc-console": "1" };

let workspaceId: string | undefined;
/** Every request from now on is about this workspace. */
export const chooseWorkspace = (id: string | undefined): void => {
  workspaceId = id;
};

const headers = (): Record<string, string> => ({
  ...own,
  ...(workspaceId === undefined ? {} : { "x-svc-workspace-id": workspaceId }),
});

const client = createClient<paths>({ baseUrl: at("control/v1"), fetch: send });
client.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(headers())) request.headers.set(name, value);
  },
  onResponse({ response }) {
    compareClock(response.headers.get("date"));
  },
});

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<
  paths[Path],
  Method & keyof paths[Path]
>;
/**
 * As openapi-fetch has it, but for one thing: what a request takes is not inferred from what is
 * given, so that a field which the API does not know does not compile.
 */
type Asking<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: undefined extends Init<Path, Method> ? [Init<Path, Method>?] : [Init<Path, Method>]
) => Promise<
  FetchResponse<paths[Path][Method & keyof paths[Path]] & Part, object, "application/json">
>;
type Part = Record<string | number, unknown>;

export const api = client as unknown as {
  readonly GET: Asking<"get">;
  readonly POST: Asking<"post">;
  readonly PATCH: Asking<"patch">;
  readonly DELETE: Asking<"delete">;
};

/** How often somebody has signed in here. */
let signIns = 0;

type Listener = () => void;
const listeners = new Set<Listener>();
/** Calls when a request shows that the session has ended. @returns how to stop listening */
export function onSessionEnd(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

interface Answered<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer. @throws Problem */
export async function ask<T extends { data: unknown }>(
  asked: Promise<Answered<T>>,
): Promise<T["data"]> {
  const signInsBefore = signIns;
  let answer: Answered<T>;
  try {
    answer = await asked;
  } catch {
    throw new Problem(0);
  }
  const { data, error, response } = answer;
  if (response.ok && data !== undefined) return data.data;
  // Of the session that ended: who has signed in meanwhile has another one.
  if (response.status === 401 && signIns === signInsBefore)
    for (const listener of listeners) listener();
  throw new Problem(response.status, (error ?? {}) as Partial<schemas["Error"]>);
}

/** A change that somebody else decides about, in place of what was asked for. */
export const isProposal = (data: unknown): data is schemas["Approval"] =>
  typeof data === "object" && data !== null && "approval_id" in data && "proposal" in data;

/** The answer to a change that nobody has to approve. @throws Problem */
export async function askNow<T extends { data: unknown }>(
  asked: Promise<Answered<T>>,
): Promise<Exclude<T["data"], schemas["Approval"]>> {
  const data = await ask(asked);
  if (isProposal(data)) throw new Problem(202, { message: "It waits for somebody's approval." });
  return data as Exclude<T["data"], schemas["Approval"]>;
}

/**
 * Signs in with the code of a link, an access token or the token of an invitation. The browser gets
 * a cookie, and this page nothing.
 * @throws Problem
 */
export async function signIn(secret: string): Promise<void> {
  await session("POST", { body: JSON.stringify({ secret }) });
  signIns += 1;
}

/** Where the mails of this instance go. */
export type Reach = "recipients" | "folder" | "nobody";

/**
 * Has a sign-in link mailed to an address, if somebody here has it.
 * @throws Problem
 */
export async function askForLink(email: string): Promise<Reach> {
  const answer = await request("console/link", "POST", { body: JSON.stringify({ email }) });
  return ((await answer.json()) as { readonly data: { readonly reaches: Reach } }).data.reaches;
}

/** @throws Problem */
export const signOut = (): Promise<void> => session("DELETE", {});

const session = async (method: string, init: RequestInit): Promise<void> => {
  await request("console/session", method, init);
};

async function request(path: string, method: string, init: RequestInit): Promise<Response> {
  const response = await fetch(at(path), {
    ...init,
    method,
    headers: { ...own, ...(init.body ? { "content-type": "application/json" } : {}) },
  }).catch(() => undefined);
  if (!response) throw new Problem(0);
  if (!response.ok)
    throw new Problem(response.status, await response.json().catch(() => undefined));
  return response;
}

/** Server-sent events, with the headers that an EventSource cannot send. @throws Problem */
export async function* events(
  path: string,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<{ readonly id: string | undefined; readonly data: string }> {
  const response = await fetch(at(`control/v1${path}`), {
    signal,
    headers: {
      ...headers(),
      accept: "text/event-stream",
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  if (!response.ok || !response.body) throw new Problem(response.status, await response.json());
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const field = (name: string) =>
        part
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) yield { id: field("id"), data };
    }
  }
}

/** The lines of an export, as they come. @throws Problem */
export async function* exported(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const request = new Request(at(`control/v1${path}`), { signal, headers: headers() });
  const response = await send(request).catch(() => undefined);
  if (!response) throw new Problem(0);
  if (!response.ok || !response.body)
    throw new Problem(response.status, await response.json().catch(() => undefined));
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
