/**
 * The card of a connector that comes with svc: `card.json` beside its module. It says what has to
 * be known before the connector's code is loaded; registry, Control API, executables and README are
 * made from the cards, and nothing else lists connectors.
 */
import type { Static } from "typebox";
import type { cardSchema } from "./card-schema.ts";

/** Each kind has its folder in `connectors/`. */
export const connectorFolders = {
  source: "sources",
  destination: "destinations",
  activation: "activations",
} as const;
export type ConnectorKind = keyof typeof connectorFolders;

export const connectorKinds = ["source", "destination", "activation"] as const;

export const connectorCategories = [
  "email_marketing",
  "social_media",
  "finance",
  "productivity",
  "database",
  "webhook",
  /** Connectors that do not come with svc. */
  "other",
] as const;

/** `alpha`: in the making; it works, but neither README nor the package's executables show it. */
export const releaseStages = ["alpha", "beta", "ga"] as const;

export type ConnectorCard = Static<typeof cardSchema>;
