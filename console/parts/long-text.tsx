import { UnstyledButton } from "@mantine/core";
import { useState } from "react";

/** Longer ones are somebody's dump. */
const shortest = 1_000;

/** Text of others, in whatever length it comes. */
export function LongText({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  if (text.length <= shortest) return <bdi className="text">{text}</bdi>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <bdi className="text long" tabIndex={0}>
        {isOpen ? text.slice(0, 100_000) : `${text.slice(0, shortest)}…`}
      </bdi>
      <div>
        <UnstyledButton fz="sm" td="underline" onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Show less" : "Show more of it"}
        </UnstyledButton>
      </div>
    </>
  );
}
