import { Loader } from "@mantine/core";

/** While somebody else is asked, which may take a while. */
export const Asking = ({ children }: { readonly children: string }) => (
  <div className="panel empty" aria-live="polite" aria-busy="true">
    <Loader size="sm" />
    <p>{children}</p>
  </div>
);
