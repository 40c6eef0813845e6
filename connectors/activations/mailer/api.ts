/**
 * The mailer's API for lists and their subscribers.
 * @see https://www.mailcoach.app/docs/api/endpoints/subscribers/ (read 2026-07)
 */
import { ConnectorError, type JsonObject } from "svc-connectors";
import type { MailerContext } from "./spec.ts";

export interface EmailList {
  readonly uuid: string;
  readonly name: string;
}

export interface Subscriber {
  readonly uuid: string;
  readonly email: string;
  /** PHP writes an empty map as a list. */
  readonly extra_attributes?: JsonObject | readonly never[];
}

/** Pages of lists that are looked at: 10,000 lists. */
const maxPages = 100;

/** The lists of the account; with a name or uuid, those that it names. */
export async function findLists(ctx: MailerContext, wanted?: string): Promise<EmailList[]> {
  const found: EmailList[] = [];
  for (let page = 1, lastPage = 1; page <= Math.min(lastPage, maxPages); page++) {
    const answer = await ctx.http.get(["email-lists"], { query: { page, per_page: 100 } });
    const { data, meta } = answer.json<{ data?: unknown; meta?: { last_page?: unknown } }>() ?? {};
    if (!Array.isArray(data))
      throw new ConnectorError("RESPONSE_INVALID", { reason: "the lists are none" });
    lastPage = Number(meta?.last_page ?? 1);
    const lists = data.filter(
      (list): list is EmailList => typeof list?.uuid === "string" && typeof list?.name === "string",
    );
    found.push(
      ...lists.filter(
        ({ uuid, name }) => wanted === undefined || uuid === wanted || name === wanted,
      ),
    );
  }
  return found;
}

/**
 * The subscriber of this address, whatever its status. The filter of the API finds parts of
 * addresses too.
 */
export async function findSubscriber(
  ctx: MailerContext,
  list: string,
  email: string,
): Promise<Subscriber | undefined> {
  for (let page = 1, lastPage = 1; page <= Math.min(lastPage, maxPages); page++) {
    const query = { "filter[email]": email, page, per_page: 100 };
    const answer = await ctx.http.get(["email-lists", list, "subscribers"], { query });
    const { data, meta } = answer.json<{ data?: unknown; meta?: { last_page?: unknown } }>() ?? {};
    if (!Array.isArray(data))
      throw new ConnectorError("RESPONSE_INVALID", { reason: "the subscribers are none" });
    lastPage = Number(meta?.last_page ?? 1);
    const found = (data as Partial<Subscriber>[]).find(
      (one) => one.email?.toLowerCase() === email.toLowerCase(),
    );
    if (typeof found?.uuid === "string") return found as Subscriber;
  }
  return undefined;
}
