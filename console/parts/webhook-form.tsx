/** The form of a webhook that is sent events: where it is, what it takes, and of what. */
import { Checkbox, NativeSelect, TextInput } from "@mantine/core";
import type { schemas } from "../api/schema.ts";
import { allEvents, type EventName, formatWords } from "../model/notifications.ts";
import { EventChoice } from "./event-choice.tsx";

export interface WebhookParts {
  readonly name: string;
  readonly url: string;
  readonly format: schemas["WebhookFormat"];
  /** Null: all there are, and those that come. */
  readonly events: readonly EventName[] | null;
}

/** As the API takes it. */
export const webhookBody = ({ name, url, format, events }: WebhookParts) => ({
  name: name.trim(),
  url: url.trim(),
  format,
  event_types: events === null ? null : [...events],
});

/** Whether it can be sent. */
export const isWhole = ({ name, url, events }: WebhookParts): boolean =>
  name.trim() !== "" && url.trim() !== "" && (events === null || events.length > 0);

export function WebhookFields({
  value,
  faults,
  isReadOnly = false,
  onChange,
}: {
  readonly value: WebhookParts;
  readonly faults: Readonly<Record<string, string>>;
  readonly isReadOnly?: boolean | undefined;
  readonly onChange: (parts: WebhookParts) => void;
}) {
  const set = (change: Partial<WebhookParts>) => onChange({ ...value, ...change });
  return (
    <>
      <TextInput
        label="Name"
        value={value.name}
        error={faults.name}
        disabled={isReadOnly}
        onChange={(event) => set({ name: event.currentTarget.value })}
        required
      />
      <TextInput
        label="URL"
        description="https, and a public host unless the operator has opened others."
        placeholder="https://hooks.example.com/svc"
        value={value.url}
        error={faults.url}
        disabled={isReadOnly}
        onChange={(event) => set({ url: event.currentTarget.value })}
        autoComplete="off"
        spellCheck={false}
        required
      />
      <NativeSelect
        label="What it is sent"
        value={value.format}
        disabled={isReadOnly}
        data={Object.entries(formatWords).map(([name, label]) => ({ value: name, label }))}
        onChange={(event) => set({ format: event.currentTarget.value as WebhookParts["format"] })}
      />
      <Checkbox
        label="Of everything that happens"
        checked={value.events === null}
        disabled={isReadOnly}
        onChange={(event) => set({ events: event.currentTarget.checked ? null : allEvents })}
      />
      {value.events === null ? null : (
        <EventChoice
          chosen={value.events}
          isReadOnly={isReadOnly}
          onChange={(events) => set({ events })}
        />
      )}
    </>
  );
}
