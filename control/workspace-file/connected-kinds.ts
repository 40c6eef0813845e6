/** Sources and destinations: a connector, a credential and settings. */
import type { Resource } from "./api.ts";
import {
  type Hands,
  type Kind,
  type NameOf,
  notEmpty,
  only,
  patch,
  said,
  withoutNulls,
} from "./kind.ts";
import type { Entries } from "./schema.ts";

const connected = {
  source: {
    names: { credential: "credentials" },
    entryOf: (there: Resource, nameOf: NameOf) =>
      said({
        connector: there.connector_id,
        credential:
          there.credential_handle === null
            ? undefined
            : nameOf("credentials", there.credential_handle),
        configuration: notEmpty(there.configuration),
      }),
    bodyOf: (
      { connector, credential }: { connector?: unknown; credential?: unknown },
      { idOf }: Hands,
    ) =>
      said({
        connector_id: connector,
        credential_handle:
          credential === undefined ? undefined : idOf("credentials", String(credential)),
      }),
  },
} as const;

export const withConfiguration = <S extends "sources" | "destinations">(
  section: S,
  noun: string,
  path: string,
  idField: string,
): Kind<S> => {
  const { names, entryOf, bodyOf } = connected.source;
  const kind: Kind<S> = {
    section,
    noun,
    path,
    idField,
    names,
    fixed: ["connector"],
    entryOf: (there, nameOf) => entryOf(there, nameOf) as Entries[S],
    create: (name, entry, hands) =>
      hands.api.write("POST", path, {
        name,
        ...bodyOf(entry, hands),
        ...said({ configuration: withoutNulls(entry.configuration) }),
      }),
    async change(change, hands) {
      const { fields, entry, configuration } = change;
      const body = { ...bodyOf(only(entry, fields), hands), ...said({ configuration }) };
      await patch(kind, change, body, hands);
    },
  };
  return kind;
};
