/** Cluster slots: CRC16 (XMODEM) of the hash tag or the whole key, as `CLUSTER KEYSLOT` answers. */
import { bytesOf } from "../../text/bytes.js";

const TABLE = new Uint16Array(256);
for (let byte = 0; byte < 256; byte++) {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) !== 0 ? (crc << 1) ^ 0x1021 : crc << 1;
  TABLE[byte] = crc & 0xffff;
}

/** The part of a key that decides its slot: between the first `{` and the next `}` when that is not empty. */
export function hashTag(key: string): string {
  const open = key.indexOf("{");
  if (open < 0) return key;
  const close = key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}

/** Slot 0 … 16383 of a key (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/). */
export function keySlot(key: string): number {
  const bytes = bytesOf(hashTag(key));
  let crc = 0;
  for (let i = 0; i < bytes.length; i++)
    crc = ((crc << 8) & 0xffff) ^ TABLE[((crc >> 8) ^ bytes.charCodeAt(i)) & 0xff]!;
  return crc & 16383;
}
