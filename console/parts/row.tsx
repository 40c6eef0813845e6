import type { ReactNode } from "react";
import { Link } from "wouter";

/** A line of a list: on a wide screen with columns, on a narrow one as a block. */
export function Row({
  to,
  name,
  badge,
  about,
  detail,
  later,
  right,
  children,
}: {
  /** Its page; absent: it has none. */
  readonly to?: string | undefined;
  readonly name: ReactNode;
  /** A mark beside the name. */
  readonly badge?: ReactNode;
  /** The line below the name. */
  readonly about?: ReactNode;
  readonly detail?: ReactNode;
  /** A time, or what else is looked for last: narrow screens have it beside the detail. */
  readonly later?: ReactNode;
  readonly right?: ReactNode;
  /** Content that belongs to it and is not in the line. */
  readonly children?: ReactNode;
}) {
  const cells = (
    <>
      <span>
        <bdi className="name">{name}</bdi>
        {badge === undefined ? null : <span className="badge inline">{badge}</span>}
        {about === undefined ? null : <span className="dim below">{about}</span>}
      </span>
      <span className="more">
        <span className="dim wide">{detail}</span>
        <span className="dim later">{later}</span>
      </span>
      <span className="right">{right}</span>
    </>
  );
  return (
    <li>
      {to === undefined ? (
        <div className="row">{cells}</div>
      ) : (
        <Link href={to} className="row">
          {cells}
        </Link>
      )}
      {children}
    </li>
  );
}
