/** What the page is called and looks like where it is installed. */

/** Two benches and the record between them. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" rx="96" fill="#123a6d"/><g fill="#fff"><rect x="96" y="112" width="64" height="288" rx="20"/><rect x="352" y="112" width="64" height="288" rx="20"/><rect x="192" y="160" width="128" height="28" rx="14"/><rect x="192" y="226" width="128" height="28" rx="14"/><rect x="192" y="292" width="84" height="28" rx="14"/></g></svg>`;

export const manifestText: string = `${JSON.stringify({
  name: "Hansard",
  short_name: "Hansard",
  description: "The record of your coding agents",
  start_url: "/",
  scope: "/",
  display: "standalone",
  background_color: "#15171a",
  theme_color: "#123a6d",
  icons: [{ src: "/icon.svg", sizes: "any", type: "image/svg+xml", purpose: "any" }],
})}\n`;
