/** The form of a connector that is added or replaced: a declarative manifest, or an image. */
import {
  Button,
  FileButton,
  SegmentedControl,
  TagsInput,
  Textarea,
  TextInput,
} from "@mantine/core";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import type { Problem } from "../api/problem.ts";
import {
  faultsOfGiven,
  type GivenConnector,
  maxManifestLength,
  nameFrom,
} from "../model/given-connector.ts";
import { useFaultFocus } from "./fault-focus.ts";
import { LongText } from "./long-text.tsx";
import { useMe } from "./me.tsx";

export function GivenConnectorForm({
  first,
  isNew,
  label,
  isBusy,
  problem,
  note,
  onSave,
}: {
  readonly first: GivenConnector;
  /**
   * The first values; a connector that is there keeps its name, and stays a manifest or an image.
   */
  readonly isNew: boolean;
  readonly label: string;
  readonly isBusy: boolean;
  readonly problem: Problem | undefined;
  /** The outcome of saving it. */
  readonly note: ReactNode;
  readonly onSave: (given: GivenConnector) => void;
}) {
  const { me } = useMe();
  const images = me.instance?.images ?? [];
  const [given, setGiven] = useState(first);
  const [isNamed, setNamed] = useState(!isNew);
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>({});
  const change = (changes: Partial<GivenConnector>) => setGiven({ ...given, ...changes });
  /** Who has named it by hand keeps the name. */
  const named = (text: string) => (isNamed ? {} : { name: nameFrom(text) });
  const form = useFaultFocus(faults, problem);
  const said = { ...problem?.fields, ...faults };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = faultsOfGiven(given);
    setFaults(found);
    if (Object.keys(found).length === 0) onSave(given);
  };
  return (
    <form className="form wide panel" ref={form} noValidate onSubmit={submit}>
      {isNew && images.length > 0 ? (
        <SegmentedControl
          aria-label="What it is"
          value={given.way}
          onChange={(way) => {
            setFaults({});
            change({ way: way as GivenConnector["way"] });
          }}
          data={[
            { value: "manifest", label: "A manifest" },
            { value: "image", label: "An image" },
          ]}
          style={{ justifySelf: "start" }}
        />
      ) : null}
      {given.way === "manifest" ? (
        <ManifestField
          text={given.manifest}
          fault={said.manifest}
          onChange={(manifest, file) =>
            change({ manifest, ...(file === undefined ? {} : named(file)) })
          }
        />
      ) : (
        <>
          <TextInput
            label="Image"
            description={
              <>
                With its digest. The operator allows{" "}
                <LongText text={images.length === 0 ? "none any more" : images.join(", ")} />.
              </>
            }
            placeholder="acme/source-shop@sha256:…"
            value={given.image}
            onChange={({ currentTarget: { value: image } }) => change({ image, ...named(image) })}
            error={said.source_image}
            required
          />
          <TagsInput
            label="Hosts"
            description="Where its requests may go, by HTTPS. It reaches no others."
            placeholder={given.hosts.length === 0 ? "api.shop.example.com" : ""}
            value={[...given.hosts]}
            onChange={(hosts) => change({ hosts })}
            acceptValueOnBlur
            error={said.allowed_hosts}
            required
          />
        </>
      )}
      {isNew ? (
        <TextInput
          label="Name"
          description={
            <>
              Its id is made of it: <code>conn_{given.name.replaceAll("-", "_") || "…"}</code>
            </>
          }
          value={given.name}
          onChange={({ currentTarget: { value: name } }) => {
            setNamed(name !== "");
            change({ name });
          }}
          error={said.name}
          required
        />
      ) : null}
      {note}
      <div className="actions">
        <Button type="submit" loading={isBusy}>
          {label}
        </Button>
      </div>
      <span className="dim" aria-live="polite">
        {isBusy && given.way === "image"
          ? "The image is fetched where it is missing, and asked for its spec. That may take minutes."
          : "It is checked before it is saved. When something is wrong with it, nothing changes."}
      </span>
    </form>
  );
}

function ManifestField({
  text,
  fault,
  onChange,
}: {
  readonly text: string;
  readonly fault: ReactNode;
  /** @param file its name, when it comes from one */
  readonly onChange: (text: string, file?: string) => void;
}) {
  const [unread, setUnread] = useState<string>();
  /** The same file may be chosen again, once it was mended. */
  const reset = useRef<() => void>(null);
  const take = async (file: File | null) => {
    if (file === null) return;
    reset.current?.();
    if (file.size > 4 * maxManifestLength) return setUnread(`${file.name} is no manifest.`);
    try {
      const read = await file.text();
      setUnread(undefined);
      onChange(read, file.name);
    } catch {
      setUnread(`${file.name} cannot be read.`);
    }
  };
  return (
    <>
      <div>
        <FileButton resetRef={reset} accept=".yaml,.yml,.json" onChange={(file) => void take(file)}>
          {(button) => (
            <Button {...button} variant="default">
              Choose its file
            </Button>
          )}
        </FileButton>
      </div>
      <Textarea
        label="Manifest"
        description="Airbyte's low-code YAML, or the same as JSON. Every workspace may use it then."
        classNames={{ input: "code" }}
        rows={16}
        spellCheck={false}
        dir="ltr"
        value={text}
        onChange={({ currentTarget: { value } }) => onChange(value)}
        error={unread ?? fault}
        required
      />
    </>
  );
}
