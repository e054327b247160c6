/** The page: sessions on a phone. Documents are made on the server, so that the first content waits for no script. @module */
export { type AssetNames, listHtml, type SessionPage, sessionHtml, signInHtml } from "./document.ts";
export { createPages, type PagesOptions } from "./pages.ts";
export { readPageScript } from "./script.ts";
export { pageStyle } from "./style.ts";
export { articleHtml, articlesHtml, type Placed, turnsHtml } from "./turns.ts";
