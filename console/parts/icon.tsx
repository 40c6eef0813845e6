const paths = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1Z",
  source:
    "M4 5c0-1.1 2.7-2 6-2s6 .9 6 2-2.7 2-6 2-6-.9-6-2Zm0 0v10c0 1.1 2.7 2 6 2s6-.9 6-2V5M4 10c0 1.100 2.7 2 6 2s6-.9 6-2",
  destination:
    "M10 3v9m0 0 3.500-3.500M10 12 6.500 8.500M3.500 13v2.500a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1V13",
  pipeline: "M3 10h4m6 0h4M7 7h6v6H7Z",
  job: "M10 5.500V10l3 2M10 17a7 7 0 1 1 0-14 7 7 0 0 1 0 14Z",
  activation:
    "M10 12V3m0 0L6.500 6.500M10 3l3.500 3.500M3.500 12.500v3a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-3",
  connector: "M7 3v4m6-4v4M5 7h10v3a5 5 0 0 1-10 0Zm5 8v3",
  approval: "M4 10.500 8.500 15 16.500 5.500",
  people:
    "M7.500 9.500a2.750 2.750 0 1 0 0-5.500 2.750 2.750 0 0 0 0 5.500ZM2.500 16.500c0-2.750 2.250-4.500 5-4.500s5 1.750 5 4.500M13 4.250a2.750 2.750 0 0 1 0 5M14.500 12.250c1.850.600 3 2.150 3 4.250",
  key: "M7 13.500a3.500 3.500 0 1 1 0-7 3.500 3.500 0 0 1 0 7Zm3.500-3.500H17m0 0v2.500M14 10v2",
  bell: "M5 14V9a5 5 0 0 1 10 0v5l1.500 1.500h-13ZM8.500 17.500h3",
  audit: "M5 3h7l3 3v11H5Zm2.500 7h5m-5 3h5m-5-6H10",
  search: "m13 13 4 4M9 14.500a5.500 5.500 0 1 1 0-11 5.500 5.500 0 0 1 0 11Z",
  menu: "M3 6h14M3 10h14M3 14h14",
  sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM10 2v1.500m0 13V18M2 10h1.500m13 0H18M4.300 4.300l1.100 1.100m9.200 9.200 1.100 1.100m0-11.400-1.100 1.100m-9.200 9.200-1.100 1.100",
  out: "M8 17H4.500a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1H8m4.500 10.500L16 10l-3.500-3.500M16 10H7.500",
} as const;

export const Icon = ({ name }: { readonly name: keyof typeof paths }) => (
  <svg
    width="20"
    height="20"
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={paths[name]} />
  </svg>
);

export const Logo = () => (
  <svg width="26" height="26" viewBox="0 0 16 16" aria-hidden="true">
    <rect width="16" height="16" rx="4" fill="#4263eb" />
    <path
      d="M4 4h5a2 2 0 0 1 0 4H7a2 2 0 0 0 0 4h5"
      fill="none"
      stroke="white"
      strokeWidth="1.6"
      strokeLinecap="round"
    />
  </svg>
);
