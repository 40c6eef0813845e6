import { ConnectorError } from "svc-connectors";
import { type Brand, type Channel, listBrands, listChannels, listPortals } from "./api.ts";
import type { SocialContext } from "./spec.ts";

/** @throws CONFIG_INVALID when none is chosen yet */
export function selectedPortalId({ config }: SocialContext): string {
  if (config.portal_id !== undefined) return config.portal_id;
  throw new ConnectorError("CONFIG_INVALID", {
    path: "portal_id",
    problem: "is missing; choose one of the account's portals",
  });
}

/** @throws ACCESS_MISSING, RESOURCE_NOT_FOUND when the user has no portal, or not this one */
export async function selectedPortal(ctx: SocialContext) {
  const id = selectedPortalId(ctx);
  const portal = (await listPortals(ctx)).find(({ portal_id }) => portal_id === id);
  if (!portal)
    throw new ConnectorError("RESOURCE_NOT_FOUND", {
      reason: "the selected portal is none of the account's",
    });
  return portal;
}

/** Listings of one run, kept so that its streams do not each list it again. */
const listed = new WeakMap<SocialContext, Map<string, Promise<unknown>>>();

function once<T>(ctx: SocialContext, key: string, ask: () => Promise<T>): Promise<T> {
  const ofRun = listed.get(ctx) ?? new Map<string, Promise<unknown>>();
  listed.set(ctx, ofRun);
  const known = ofRun.get(key) as Promise<T> | undefined;
  if (known) return known;
  const asked = ask();
  ofRun.set(key, asked);
  asked.catch(() => ofRun.delete(key)); // another stream may ask again
  return asked;
}

/**
 * In order of id.
 * @throws ACCESS_MISSING, RESOURCE_NOT_FOUND when there is none, or one that was selected is gone
 */
export async function selectedBrands(ctx: SocialContext): Promise<Brand[]> {
  const { brand_ids } = ctx.config;
  const brands = await once(ctx, "brands", () => listBrands(ctx, selectedPortalId(ctx)));
  if (brands.length === 0)
    throw new ConnectorError("ACCESS_MISSING", {
      reason: "the portal has no brand that this user may see",
    });
  const selected = brands.filter(
    ({ brand_id }) => brand_ids.length === 0 || brand_ids.includes(brand_id),
  );
  refuseMissing("brand", brand_ids.length, selected.length);
  return selected.sort((one, other) => (one.brand_id < other.brand_id ? -1 : 1));
}

/** In order of id. A brand without selected channels has none. */
export async function selectedChannelsOf(ctx: SocialContext, brand: Brand): Promise<Channel[]> {
  const { channel_ids } = ctx.config;
  const channels = await once(ctx, `channels of ${brand.brand_id}`, () => listChannels(ctx, brand));
  const selected = channels.filter(
    ({ channel_id }) => channel_ids.length === 0 || channel_ids.includes(channel_id),
  );
  return selected.sort((one, other) => (one.channel_id < other.channel_id ? -1 : 1));
}

export interface SelectedBrand {
  readonly brand: Brand;
  readonly channels: readonly Channel[];
}

/**
 * Brands with their selected channels, without those that lack any where channels were selected.
 * @throws as {@link selectedBrands}
 */
export async function selectedAccount(ctx: SocialContext): Promise<SelectedBrand[]> {
  const brands = await selectedBrands(ctx);
  const account = await Promise.all(
    brands.map(async (brand) => ({ brand, channels: await selectedChannelsOf(ctx, brand) })),
  );
  const foundCount = account.reduce((sum, { channels }) => sum + channels.length, 0);
  const { channel_ids } = ctx.config;
  refuseMissing("channel", channel_ids.length, foundCount);
  return account.filter(({ channels }) => channel_ids.length === 0 || channels.length > 0);
}

/** Reading less than was selected must not look like success. */
export function refuseMissing(
  what: "brand" | "channel",
  wantedCount: number,
  foundCount: number,
): void {
  if (foundCount >= wantedCount) return;
  const reason = `${wantedCount - foundCount} of ${wantedCount} selected ${what}s cannot be found`;
  throw new ConnectorError("RESOURCE_NOT_FOUND", { reason });
}
