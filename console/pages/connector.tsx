import { Alert, Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { useConnector } from "../model/queries.ts";
import { plural, spoken } from "../model/words.ts";
import { Conformance } from "../parts/conformance.tsx";
import { Delete } from "../parts/delete.tsx";
import { Head } from "../parts/head.tsx";
import { LongText } from "../parts/long-text.tsx";
import { useMe } from "../parts/me.tsx";
import { notify } from "../parts/notify.ts";
import { SearchedList } from "../parts/searched-list.tsx";
import { Loaded } from "../parts/states.tsx";
import { Ago } from "../parts/status.tsx";

type Connector = schemas["ConnectorWithStreams"];

const up = { to: "/connectors", label: "Connectors" };

/** One connector: what it is, where its requests go, what it reads, and what the kit has found. */
export default function ConnectorPage({ id }: { readonly id: string }) {
  const query = useConnector(id);
  return (
    <Loaded query={query} before={<Head title="Connector" up={up} />}>
      {(connector) => (
        <>
          <Head title={connector.name} up={up}>
            <Replace connector={connector} />
            <Use connector={connector} />
          </Head>
          <div className="stack">
            <div className="columns">
              <Metadata connector={connector} />
              <Streams connector={connector} />
            </div>
            {connector.added ? <Conformance connector={connector} /> : null}
            <Manifest connector={connector} />
            <Remove connector={connector} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function Use({ connector }: { readonly connector: Connector }) {
  const { mayWrite } = useMe();
  const { type, enabled, connector_id: id } = connector;
  if (!mayWrite || !enabled || type === "row_destination") return null;
  return (
    <Button component={Link} href={`/${type}s/new/${id}`}>
      Add a {type}
    </Button>
  );
}

/** A manifest or an image that was added: what the API may change. Code is the operator's. */
const isGiven = ({ manifest, source_image: image }: Connector) =>
  manifest !== null || image !== null;

function Replace({ connector }: { readonly connector: Connector }) {
  const { administersInstance } = useMe();
  if (!administersInstance || !isGiven(connector)) return null;
  return (
    <Button
      component={Link}
      href={`/connectors/${connector.connector_id}/replace`}
      variant="default"
    >
      Replace {connector.manifest === null ? "the image" : "the manifest"}
    </Button>
  );
}

function Remove({ connector }: { readonly connector: Connector }) {
  const { administersInstance } = useMe();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { connector_id: id, name } = connector;
  const remove = async () => {
    const path = { connector_id: id };
    const made = await ask(api.DELETE("/connectors/{connector_id}", { params: { path } }));
    notify.outcome(made, `${name} was removed.`);
    go("/connectors");
    await queries.invalidateQueries({ queryKey: ["in", "connectors"] });
  };
  if (!isGiven(connector)) return null;
  return (
    <Delete name={name} label="Remove this connector" may={administersInstance} run={remove}>
      Nobody can use it any more, in any workspace. First delete the sources and logins that use it.
    </Delete>
  );
}

function Metadata({ connector }: { readonly connector: Connector }) {
  const {
    type,
    category,
    auth_types: types,
    release_stage: stage,
    documentation_url: url,
  } = connector;
  const entries: readonly (readonly [name: string, value: ReactNode])[] = [
    ["Kind", spoken(type)],
    ["For", spoken(category)],
    ["Stage", stage === "ga" ? "Stable" : spoken(stage)],
    ["From", connector.added ? "Added to this instance" : "Comes with svc"],
    ["Login", types.map(spoken).join(", ")],
    ...metadataOfManifest(connector),
    ...metadataOfImage(connector),
    ["Id", <code key="id">{connector.connector_id}</code>],
    ...(url === null || !/^https:/.test(url)
      ? []
      : [
          [
            "Documentation",
            <a key="url" href={url} rel="noreferrer" target="_blank">
              {url}
            </a>,
          ] as const,
        ]),
  ];
  return (
    <section className="panel" style={{ alignSelf: "start" }}>
      <h2>What it is</h2>
      {connector.enabled ? null : (
        <Alert color="yellow" variant="light" mb="md">
          Disabled by the operator: nothing new begins with it.
        </Alert>
      )}
      <dl className="facts">
        {entries.map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function metadataOfManifest({ manifest_metadata: metadata }: Connector) {
  if (metadata === null) return [];
  return [
    ["Requests go to", metadata.reaches.join(", ")],
    ["Changed", <Ago key="at" at={metadata.updated_at} />],
    ["Digest", <code key="digest">{metadata.digest}</code>],
  ] as const;
}

function metadataOfImage({ source_image: image, image_metadata: metadata }: Connector) {
  if (metadata === null) return [];
  const { exposed_secrets: exposed } = metadata;
  return [
    ...(image === null ? [] : [["Image", <code key="image">{image}</code>] as const]),
    ["Requests go to", metadata.reaches.join(", ")],
    ["Changed", <Ago key="at" at={metadata.updated_at} />],
    ["Secrets that it sees", exposed.length === 0 ? "None" : exposed.join(", ")],
  ] as const;
}

function Streams({ connector }: { readonly connector: Connector }) {
  const { streams_preview: streams, manifest_metadata: metadata, type } = connector;
  const missing = metadata?.missing_streams ?? [];
  if (type !== "source") return null;
  return (
    <section className="stack" style={{ alignContent: "start" }}>
      <h2 className="section" style={{ margin: 0 }}>
        Streams
      </h2>
      {missing.length === 0 ? null : (
        <Alert
          color="yellow"
          variant="light"
          title={`${plural(missing.length, "stream")} cannot be read here`}
        >
          {missing.map(({ stream, path, problem }) => (
            <div key={stream}>
              <bdi>{stream}</bdi>: <code>{path}</code> <LongText text={problem} />
            </div>
          ))}
        </Alert>
      )}
      {streams.length === 0 ? (
        <div className="panel dim">Which there are depends on the account or database.</div>
      ) : (
        <SearchedList items={streams}>
          {({ name, fields, sync_modes: modes }) => (
            <li key={name} className="stream-name">
              <bdi className="name">{name}</bdi>
              <span className="dim">
                {plural(fields.length, "column")}
                {modes.includes("incremental") ? ", what changed" : ""}
              </span>
            </li>
          )}
        </SearchedList>
      )}
    </section>
  );
}

function Manifest({ connector: { manifest } }: { readonly connector: Connector }) {
  if (manifest === null) return null;
  return (
    <details className="panel rules">
      <summary>The manifest</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className="code" dir="ltr" tabIndex={0}>
        {manifest}
      </pre>
    </details>
  );
}
