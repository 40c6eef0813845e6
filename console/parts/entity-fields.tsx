/** Portal, brands and channels, chosen from what the connected account has. */
import { Button, Loader, MultiSelect, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, ask, isProposal } from "../api/client.ts";
import { Problem, toProblem } from "../api/problem.ts";
import type { schemas } from "../api/schema.ts";
import type { Values } from "../model/spec.ts";
import { ProblemNote } from "./states.tsx";

/** Settings that are chosen from the account, not typed. */
export const entityFields = ["portal_id", "brand_ids", "channel_ids"] as const;

/** Whether a connector asks for them. */
export const hasEntities = (fields: readonly { readonly name: string }[]): boolean =>
  entityFields.every((name) => fields.some((one) => one.name === name));

type Account = { readonly credential_handle: string } | { readonly source_id: string };

/** The entities of an account; null: nothing is chosen from accounts of this kind. */
const useEntities = (account: Account) =>
  useQuery({
    queryKey: ["in", "entities", account],
    queryFn: async (): Promise<schemas["SourceEntities"] | null> => {
      try {
        const found = await ask(api.POST("/sources/entities", { body: { ...account } }));
        if (isProposal(found)) throw new Problem(202);
        return found;
      } catch (error) {
        if (toProblem(error).reason === "entities_not_supported") return null;
        throw error;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });

const idsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.map(String) : [];

/** The choices that are missing, by field. */
export const missingEntities = (values: Values): Readonly<Record<string, string>> => ({
  ...(typeof values.portal_id === "string" && values.portal_id !== ""
    ? {}
    : { portal_id: "Choose a portal." }),
  ...(idsOf(values.brand_ids).length > 0 ? {} : { brand_ids: "Choose at least one brand." }),
  ...(idsOf(values.channel_ids).length > 0 ? {} : { channel_ids: "Choose at least one channel." }),
});

export function EntityFields({
  account,
  values,
  faults,
  isReadOnly = false,
  onChange,
}: {
  readonly account: Account;
  readonly values: Values;
  readonly faults: Readonly<Record<string, string>>;
  readonly isReadOnly?: boolean | undefined;
  readonly onChange: (values: Values) => void;
}) {
  const query = useEntities(account);
  const portals = query.data?.portals;
  const only = portals?.length === 1 ? portals[0]?.portal_id : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the account is known
  useEffect(() => {
    if (only !== undefined && values.portal_id === undefined)
      onChange({ ...values, portal_id: only });
  }, [only]);
  if (query.isPending)
    return (
      <span className="dim" aria-live="polite">
        <Loader size="xs" aria-hidden="true" /> The account is asked what it has.
      </span>
    );
  if (query.isError)
    return <ProblemNote error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === null) return null;
  const { brands, channels } = query.data;
  // The fault of a choice that was made since is not shown any more.
  const missing = missingEntities(values);
  const none = missingEntities({});
  const faultOf = (name: (typeof entityFields)[number]) =>
    faults[name] === none[name] ? missing[name] : faults[name];
  const portal = typeof values.portal_id === "string" ? values.portal_id : "";
  const brandIds = idsOf(values.brand_ids);
  const channelIds = idsOf(values.channel_ids);
  const brandsHere = brands.filter((one) => one.portal_id === portal);
  const channelsHere = channels.filter((one) => brandIds.includes(one.brand_id));
  const brandName = (id: string) => brands.find((one) => one.brand_id === id)?.name ?? id;
  const setBrands = (next: readonly string[]) => {
    const left = channels.filter((one) => next.includes(one.brand_id)).map((one) => one.channel_id);
    onChange({
      ...values,
      brand_ids: [...next],
      channel_ids: channelIds.filter((one) => left.includes(one)),
    });
  };
  const setChannels = (next: readonly string[]) => onChange({ ...values, channel_ids: [...next] });
  const isAll = channelsHere.length > 0 && channelIds.length === channelsHere.length;
  return (
    <>
      <NativeSelect
        label="Portal"
        value={portal}
        required
        disabled={isReadOnly}
        error={faultOf("portal_id")}
        data={[
          ...(portal === "" ? [{ value: "", label: "Choose…" }] : []),
          ...withUnknown(
            query.data.portals.map(({ portal_id: value, name }) => ({
              value,
              label: name ?? value,
            })),
            portal === "" ? [] : [portal],
          ),
        ]}
        onChange={(event) =>
          onChange({
            ...values,
            portal_id: event.currentTarget.value,
            brand_ids: [],
            channel_ids: [],
          })
        }
      />
      <MultiSelect
        label="Brands"
        value={[...brandIds]}
        required
        disabled={isReadOnly || portal === ""}
        error={faultOf("brand_ids")}
        data={withUnknown(
          brandsHere.map(({ brand_id: value, name }) => ({ value, label: name ?? value })),
          brandIds,
        )}
        onChange={setBrands}
        searchable
        nothingFoundMessage="No such brand"
        clearButtonProps={{ "aria-label": "Clear brands" }}
      />
      <MultiSelect
        label="Channels"
        description={brandIds.length === 0 ? "Of the brands that you choose." : undefined}
        value={[...channelIds]}
        required
        disabled={isReadOnly || brandIds.length === 0}
        error={faultOf("channel_ids")}
        data={withUnknown(
          channelsHere.map(({ channel_id: value, brand_id: brand, name, network, status }) => ({
            value,
            label: [
              name ?? value,
              network === null ? "" : ` (${network})`,
              brandIds.length > 1 ? `, ${brandName(brand)}` : "",
              status === "reconnect" ? ", to be connected again there" : "",
            ].join(""),
          })),
          channelIds,
        )}
        onChange={setChannels}
        searchable
        nothingFoundMessage="No such channel"
      />
      {isReadOnly || channelsHere.length === 0 ? null : (
        <div>
          <Button
            size="xs"
            variant="default"
            disabled={isAll}
            onClick={() => setChannels(channelsHere.map((one) => one.channel_id))}
          >
            All {channelsHere.length} channels
          </Button>
        </div>
      )}
    </>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Keeps chosen entities to be seen that the account does not have any more. */
function withUnknown(choices: readonly Choice[], chosen: readonly string[]): Choice[] {
  const known = new Set(choices.map(({ value }) => value));
  return [
    ...choices,
    ...chosen
      .filter((one) => !known.has(one))
      .map((value) => ({ value, label: `${value} (not there any more)` })),
  ];
}
