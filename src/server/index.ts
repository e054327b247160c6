/** The server: sessions over HTTP, for the page and for other machines. What it serves and to whom is in docs/server.md. @module */
export { lanePositionOf } from "./changes-hub.ts";
export { type CutEntry, cutEntry } from "./cut.ts";
export {
  appendToBlock,
  type BlockAppended,
  type BlockSettled,
  type Lagged,
  type LaneClosed,
  type LaneFrame,
  type Standing,
  type WireInfo,
  wireInfo,
} from "./frames.ts";
export {
  allowsSession,
  type Key,
  KeyError,
  type KeyErrorCode,
  type KeyScope,
  type KeySpec,
  type KeyStore,
  type MadeKey,
  openKeyStore,
} from "./keys.ts";
export { servedSession } from "./served.ts";
export {
  isLoopbackHost,
  type RunningServer,
  ServerError,
  type ServerErrorCode,
  type ServerOptions,
  startServer,
} from "./server.ts";
export type {
  AccessLine,
  Actor,
  Asset,
  Catalogue,
  CatalogueItem,
  Clock,
  PageReader,
  PageRequest,
  Pages,
  Prompted,
  Search,
  SearchHit,
  SearchRequest,
  ServedSession,
  SessionActs,
} from "./types.ts";
