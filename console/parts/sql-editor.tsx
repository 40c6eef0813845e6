/** A field for SQL. The keyboard leaves it as it leaves any other; Ctrl+Enter tries the query. */
import { Textarea } from "@mantine/core";
import { useRef } from "react";
import { flushSync } from "react-dom";
import { Tables } from "./warehouse-tables.tsx";

export function SqlEditor({
  value,
  warehouseId,
  error,
  isReadOnly,
  onChange,
  onTry,
}: {
  readonly value: string;
  readonly warehouseId: string;
  readonly error: string | undefined;
  readonly isReadOnly: boolean;
  readonly onChange: (sql: string) => void;
  readonly onTry: () => void;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  /** Where the cursor is, as if it had been typed: undoing takes it out again. */
  const insert = (text: string) => {
    const { current } = field;
    if (!current) return;
    const { selectionStart: start, selectionEnd: end } = current;
    // Drawn at once: whoever types on, or presses Ctrl+Enter, is in the field already.
    flushSync(() => onChange(`${value.slice(0, start)}${text}${value.slice(end)}`));
    current.focus();
    current.setSelectionRange(start + text.length, start + text.length);
  };
  return (
    <div className="columns">
      <Textarea
        ref={field}
        label="SQL"
        description="One SELECT. Ctrl+Enter tries it."
        value={value}
        error={error}
        disabled={isReadOnly}
        onChange={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          onTry();
        }}
        classNames={{ input: "sql" }}
        autosize
        minRows={10}
        maxRows={30}
        spellCheck={false}
        autoCapitalize="off"
        autoCorrect="off"
        required
      />
      {isReadOnly ? null : <Tables warehouseId={warehouseId} onChoose={insert} />}
    </div>
  );
}
