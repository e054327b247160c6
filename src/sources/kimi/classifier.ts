/** What the records of a Kimi session mean: the events of Kimi CLI's wire, and the records of Kimi Code. */
import type { RecordItem } from "../../lines/index.ts";
import type { Classified, Classifier } from "../classifier.ts";
import { objectOf, stringOf, timeOf } from "../fields.ts";
import { nameless, unknown } from "../kinds.ts";
import { classifyRecord } from "./records.ts";
import { classifyEvent } from "./wire.ts";

export const kimiClassifier: Classifier = { agent: "kimi", classify };

function classify(record: RecordItem): Classified {
  const value = objectOf(record.value);
  const message = objectOf(value?.["message"]);
  const type = stringOf(value?.["type"]);
  const time = timeOf(value?.["time"]) ?? timeOf(value?.["timestamp"]) ?? timeOf(value?.["created_at"]);
  if (value === undefined || (type === undefined && stringOf(message?.["type"]) === undefined))
    return nameless("type", record.value);
  const key = `@${record.start}`;
  const said: Classified | undefined =
    type === undefined ? classifyEvent(message ?? {}, time, key) : classifyRecord(type, value, time, key);
  return said ?? unknown(type ?? stringOf(message?.["type"]) ?? "", value, time);
}
