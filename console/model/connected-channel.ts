/**
 * How the window that comes back from a provider and the page that waits for it find each other.
 */
export const connectedChannel = "svc-connected";

export type ConnectedMessage =
  | { readonly kind: "came-back"; readonly parameters: Readonly<Record<string, string>> }
  | { readonly kind: "taken"; readonly state: string };
