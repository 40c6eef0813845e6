import { type ReactNode, useEffect } from "react";
import { Link } from "wouter";

/** The head of a page: where it belongs, what it is, and what can be done there. */
export function Head({
  title,
  up,
  aside,
  children,
}: {
  readonly title: string;
  readonly up?: { readonly to: string; readonly label: string };
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <div className="head">
      {up === undefined ? null : (
        <div className="crumb">
          <Link href={up.to}>{up.label}</Link>
        </div>
      )}
      <h1>{title}</h1>
      {aside}
      <div className="grow" />
      {children}
    </div>
  );
}
