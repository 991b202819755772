/**
 * Byte strings: one code unit (0–255) per byte. Servers compare bytes, files are read as text.
 */

/** The UTF-8 bytes of a text as a byte string. A lone surrogate U+DC80…U+DCFF stands for the raw byte 0x80…0xFF. */
export function bytesOf(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  if (!LONE_SURROGATE.test(text)) return latin1(new TextEncoder().encode(text));
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code < 0x80) out += char;
    else if (code < 0x800) out += String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code >= 0xdc80 && code <= 0xdcff) out += String.fromCharCode(code & 0xff);
    else if (code < 0x10000) {
      out += String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    } else {
      out += String.fromCharCode(
        0xf0 | (code >> 18),
        0x80 | ((code >> 12) & 63),
        0x80 | ((code >> 6) & 63),
        0x80 | (code & 63),
      );
    }
  }
  return out;
}

/** The inverse of `bytesOf`: bytes that are not UTF-8 become lone surrogates. */
export function textOf(bytes: string): string {
  if (/^[\x00-\x7f]*$/.test(bytes)) return bytes;
  try {
    const raw = Uint8Array.from({ length: bytes.length }, (_, i) => bytes.charCodeAt(i));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    // not UTF-8
  }
  let out = "";
  for (let i = 0; i < bytes.length; i++) {
    const first = bytes.charCodeAt(i);
    const more = first < 0x80 ? 0 : first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
    let code = more === 0 ? first : first & (0x3f >> more);
    let valid = more >= 0 && first < 0xf5;
    for (let k = 1; valid && k <= more; k++) {
      const next = bytes.charCodeAt(i + k);
      valid = (next & 0xc0) === 0x80;
      code = (code << 6) | (next & 63);
    }
    if (valid && more === 2) valid = code >= 0x800 && (code < 0xd800 || code > 0xdfff);
    if (valid && more === 3) valid = code >= 0x10000 && code <= 0x10ffff;
    if (valid) {
      out += String.fromCodePoint(code);
      i += more;
    } else out += String.fromCharCode(first < 0x80 ? first : 0xdc00 | first);
  }
  return out;
}

const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Whether a text holds bytes that are not UTF-8 (see `bytesOf`). */
export function hasRawBytes(text: string): boolean {
  return LONE_SURROGATE.test(text);
}

function latin1(bytes: Uint8Array): string {
  if (bytes.length < 4096) return String.fromCharCode(...bytes);
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; i += 4096) parts.push(String.fromCharCode(...bytes.subarray(i, i + 4096)));
  return parts.join("");
}
