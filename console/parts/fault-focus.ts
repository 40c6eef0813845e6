import { type RefObject, useEffect, useRef } from "react";
import type { Problem } from "../api/problem.ts";

const refused = "[aria-invalid=true], [role=alert]";

/**
 * Leads who has sent a form that was refused to its first field that is wrong, or to what was said.
 * @param faults what the form itself has found when it was sent: each time another object
 */
export function useFaultFocus(
  faults: object,
  problem?: Problem | undefined,
): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(faults).length > 0 || problem !== undefined)
      form.current?.querySelector<HTMLElement>(refused)?.focus();
  }, [faults, problem]);
  return form;
}
