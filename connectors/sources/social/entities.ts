import { ConnectorError, type JsonObject, type JsonValue } from "svc-connectors";
import { type Brand, listBrands, listChannels, listPortals, type Portal } from "./api.ts";
import type { SocialContext } from "./spec.ts";

/**
 * Portals, brands and channels to choose from. `input.portal_id` narrows brands and channels to a
 * portal, `input.brand_ids` channels to brands; without them it is those of all.
 * @throws ACCESS_MISSING when the user has no portal, RESOURCE_NOT_FOUND when it is none of the
 * account's
 */
export async function listEntities(ctx: SocialContext, input: JsonObject): Promise<JsonObject> {
  const portalId = chosenPortal(input);
  const brandIds = chosenBrands(input);
  const portals = await listPortals(ctx);
  const chosen = portals.filter(
    ({ portal_id }) => portalId === undefined || portal_id === portalId,
  );
  if (chosen.length === 0)
    throw new ConnectorError("RESOURCE_NOT_FOUND", {
      reason: "the selected portal is none of the account's",
    });
  const brands = (
    await Promise.all(chosen.map((portal) => brandsOf(ctx, portal, portalId !== undefined)))
  ).flat();
  const open = brands.filter(
    ({ brand_id }) => brandIds.length === 0 || brandIds.includes(brand_id),
  );
  const channels = (await Promise.all(open.map((brand) => listChannels(ctx, brand)))).flat();
  return {
    portals: portals.map(({ portal_id, name }) => ({ portal_id, name })),
    brands: brands.map(({ brand_id, portal_id, name, timezone }) => ({
      brand_id,
      portal_id,
      name,
      timezone,
    })),
    channels: channels.map(({ channel_id, brand_id, portal_id, network, name, status }) => ({
      channel_id,
      brand_id,
      portal_id,
      network,
      name,
      status,
    })),
  };
}

/** A portal in which the user is not active has nothing to choose, unless it was asked for. */
async function brandsOf(
  ctx: SocialContext,
  { portal_id }: Portal,
  isAskedFor: boolean,
): Promise<Brand[]> {
  try {
    return await listBrands(ctx, portal_id);
  } catch (error) {
    if (!isAskedFor && error instanceof ConnectorError && error.code === "ACCESS_MISSING")
      return [];
    throw error;
  }
}

const refuse = (path: string, problem: string) =>
  new ConnectorError("CONFIG_INVALID", { path, problem });

function chosenPortal({ portal_id }: JsonObject): string | undefined {
  if (portal_id === undefined || portal_id === null) return undefined;
  if (isId(portal_id)) return portal_id;
  throw refuse("portal_id", "must be an id from this list");
}

function chosenBrands({ brand_ids }: JsonObject): readonly string[] {
  const given = brand_ids ?? [];
  if (Array.isArray(given) && given.every(isId)) return given;
  throw refuse("brand_ids", "must be a list of ids from this list");
}

const isId = (value: JsonValue): value is string =>
  typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value);
