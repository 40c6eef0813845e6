/** Which events somebody, or a webhook, is notified of. */
import { Checkbox } from "@mantine/core";
import { type EventName, eventGroups } from "../model/notifications.ts";

export const EventChoice = ({
  chosen,
  isReadOnly,
  onChange,
}: {
  readonly chosen: readonly EventName[];
  readonly isReadOnly: boolean;
  readonly onChange: (chosen: EventName[]) => void;
}) => (
  <div className="columns">
    {eventGroups.map(({ title, events }) => (
      <fieldset key={title} className="mappings" disabled={isReadOnly}>
        <legend className="section" style={{ padding: 0, marginBottom: "0.4rem" }}>
          {title}
        </legend>
        {(Object.entries(events) as [EventName, string][]).map(([name, label]) => (
          <Checkbox
            key={name}
            label={label}
            checked={chosen.includes(name)}
            onChange={(event) =>
              onChange(
                event.currentTarget.checked
                  ? [...chosen, name]
                  : chosen.filter((one) => one !== name),
              )
            }
          />
        ))}
      </fieldset>
    ))}
  </div>
);
