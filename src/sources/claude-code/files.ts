/** Images and documents in messages. */
import type { Attachment } from "../../transcript/index.ts";
import { attachmentOf, base64Bytes, type Fields, objectOf, stringOf, wordOf } from "../fields.ts";

/** An image or a document, told by kind and size. */
export function fileOf(block: Fields): Attachment {
  const source = objectOf(block["source"]);
  const kind = stringOf(block["type"]) === "document" ? "application/octet-stream" : "image/*";
  const mediaType = wordOf(source?.["media_type"]) ?? kind;
  const name = wordOf(block["title"]) ?? wordOf(block["name"]);
  const data = stringOf(source?.["data"]);
  const url = wordOf(source?.["url"]);
  if (data === undefined && url !== undefined) return attachmentOf(url, mediaType);
  const bytes =
    data === undefined
      ? undefined
      : source?.["type"] === "text"
        ? Buffer.byteLength(data)
        : base64Bytes(data);
  return { mediaType, ...(bytes === undefined ? {} : { bytes }), ...(name === undefined ? {} : { name }) };
}
